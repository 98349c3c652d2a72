-- name: attack/changes
-- Count the rows of each group of classes by their values, before and after.
-- reads: groups (node, part), before (class, value, n), after (class, value, n)
-- holes: $groups relation, $before relation, $after relation
-- gives: part, value, before, after
SELECT counted.part, counted.value, SUM(counted.before) AS before, SUM(counted.after) AS after
FROM (
  SELECT g.part, b.value, b.n AS before, 0 AS after FROM $before AS b JOIN $groups AS g ON g.node = b.class
  UNION ALL
  SELECT g.part, a.value, 0 AS before, a.n AS after FROM $after AS a JOIN $groups AS g ON g.node = -a.class
) AS counted
GROUP BY counted.part, counted.value
