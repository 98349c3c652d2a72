-- name: attack/moves_of_people
-- Count everybody's rows that came to each group of classes, left it and stayed, beside those of the group that look so.
-- reads: groups (node, part), before (class, value, person, n), after (as before), changes (part, value, before, after)
-- holes: $groups relation, $before relation, $after relation, $changes relation
-- gives: part, person, came, went, stayed (rows of the person), appeared, vanished (rows of the group)
SELECT people.part, people.person, people.came, people.went, people.stayed, seen.appeared, seen.vanished
FROM (
  SELECT
    own.part,
    own.person,
    SUM(GREATEST(own.after - own.before, 0)) AS came,
    SUM(GREATEST(own.before - own.after, 0)) AS went,
    SUM(LEAST(own.before, own.after)) AS stayed
  FROM (
    SELECT counted.part, counted.person, counted.value, SUM(counted.before) AS before, SUM(counted.after) AS after
    FROM (
      SELECT g.part, b.person, b.value, b.n AS before, 0 AS after FROM $before AS b JOIN $groups AS g ON g.node = b.class
      UNION ALL
      SELECT g.part, a.person, a.value, 0 AS before, a.n AS after FROM $after AS a JOIN $groups AS g ON g.node = -a.class
    ) AS counted
    GROUP BY counted.part, counted.person, counted.value
  ) AS own
  GROUP BY own.part, own.person
) AS people
JOIN (
  SELECT
    c.part,
    SUM(GREATEST(c.after - c.before, 0)) AS appeared,
    SUM(GREATEST(c.before - c.after, 0)) AS vanished
  FROM $changes AS c
  GROUP BY c.part
) AS seen ON seen.part = people.part
