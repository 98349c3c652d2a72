-- What several releases of the same people tell together.

-- name: shapes
-- List what rows of each class look like, the columns taken together as one text, with one row and how many there are.
-- gives: class, value, row_id, n (rows)
-- engines: duckdb
SELECT valued.class, valued.value, MIN(valued.row_id) AS row_id, COUNT(*) AS n
FROM (
  SELECT r.row_id, r.class, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value FROM $numbered AS r
) AS valued
GROUP BY valued.class, valued.value;

-- name: shapes_of_people
-- Count everybody's rows in each class by what they look like, as attack/shapes prints it.
-- gives: class, value, person, n (rows)
-- engines: duckdb
SELECT valued.class, valued.value, valued.person, COUNT(*) AS n
FROM (
  SELECT r.class, $unit AS person, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value FROM $numbered AS r
) AS valued
GROUP BY valued.class, valued.value, valued.person;

-- name: numbered
-- Give every row of a release the number of its class, as attack/classes numbers them.
SELECT r.row_id, DENSE_RANK() OVER (ORDER BY $labels) AS class, $kept FROM $release AS r;

-- name: smallest_class
-- Count the people of the smallest class of a release that shows who they are.
SELECT MIN(sizes.people) AS people
FROM (SELECT COUNT(DISTINCT $unit) AS people FROM $release AS r GROUP BY $labels) AS sizes;

-- name: known_values
-- List the distinct values that are known of people, each with one of its rows as its number.
-- gives: target (a row's number), the columns, n (rows)
SELECT MIN(p.row_id) AS target, $columns, COUNT(*) AS n FROM $people AS p GROUP BY $columns;

-- name: in_both
-- Pair the classes that each target may stand in of two releases, for everybody whom it stands for; 0 is none of them.
SELECT m.target, m.person, COALESCE(a.class, 0) AS first, COALESCE(b.class, 0) AS second, m.n
FROM $members AS m
LEFT JOIN $first AS a ON a.target = m.target
LEFT JOIN $second AS b ON b.target = m.target
WHERE a.class IS NOT NULL OR b.class IS NOT NULL;

-- name: cells
-- Number the pairs of classes that somebody may stand in.
-- gives: class (the number of a pair), first, second
SELECT ROW_NUMBER() OVER (ORDER BY p.first, p.second) AS class, p.first, p.second
FROM $pairs AS p
GROUP BY p.first, p.second;

-- name: in_cells
-- Say in which numbered pairs of classes each target may stand.
SELECT p.target, p.person, c.class, p.n
FROM $pairs AS p
JOIN $cells AS c ON c.first = p.first AND c.second = p.second;

-- name: members
-- Take everybody who has the same known values for one, where no column tells people apart.
-- gives: target, person, n (people)
SELECT t.target, t.target AS person, t.n FROM $tuples AS t;

-- name: members_of_people
-- List the people behind the known values: whoever has several rows may be behind several values.
-- gives: target (as in attack/known_values), person, n (1)
SELECT DISTINCT keyed.target, keyed.person, 1 AS n
FROM (SELECT MIN(p.row_id) OVER (PARTITION BY $columns) AS target, $unit AS person FROM $people AS p) AS keyed;

-- name: hidden
-- Say among how many people each target stands at least: those of the largest class that it may stand in.
SELECT f.target, MAX(sizes.n) AS among
FROM (SELECT DISTINCT p.target, $class AS class FROM $fits AS p) AS f
JOIN (
  SELECT one.class, SUM(one.n) AS n
  FROM (SELECT DISTINCT p.person, $class AS class, p.n FROM $fits AS p) AS one
  GROUP BY one.class
) AS sizes ON sizes.class = f.class
GROUP BY f.target;

-- name: narrowed
-- Find who stands among k people in either of two releases, and among fewer in every pair of their classes.
SELECT b.target
FROM $both AS b
JOIN $first AS a ON a.target = b.target
JOIN $second AS o ON o.target = b.target
WHERE a.among >= $k AND o.among >= $k AND b.among < $k;

-- name: company
-- Count all who may stand where a target does, whatever pair of classes it is.
SELECT shared.target, SUM(shared.n) AS among
FROM (
  SELECT DISTINCT s.target, o.person, o.n
  FROM $narrowed AS s
  JOIN $fits AS f ON f.target = s.target
  JOIN $fits AS o ON o.class = f.class
) AS shared
GROUP BY shared.target;

-- name: hidden_in_both
-- Count the people who stand among k in either of two releases.
SELECT COALESCE(SUM(hidden.n), 0) AS people
FROM (
  SELECT DISTINCT m.person, m.n
  FROM $members AS m
  JOIN $first AS a ON a.target = m.target
  JOIN $second AS b ON b.target = m.target
  WHERE a.among >= $k AND b.among >= $k
) AS hidden;

-- name: below
-- Count the people who stand among fewer than k, and those who stand alone.
SELECT
  COALESCE(SUM(CASE WHEN found.among < $k THEN found.n ELSE 0 END), 0) AS below,
  COALESCE(SUM(CASE WHEN found.among = 1 THEN found.n ELSE 0 END), 0) AS alone
FROM (
  SELECT m.person, m.n, MIN(c.among) AS among
  FROM $candidates AS c
  JOIN $members AS m ON m.target = c.target
  GROUP BY m.person, m.n
) AS found;

-- name: common_values
-- List the values that both classes of a pair have: whoever stands in both has one of them.
SELECT c.class, a.value
FROM $cells AS c
JOIN $first AS a ON a.class = c.first
JOIN $second AS b ON b.class = c.second AND b.value = a.value;

-- name: possible_values
-- Count the values that each target may have by the classes that it may stand in.
-- gives: target, different (values), value (the first of them)
SELECT f.target, COUNT(DISTINCT v.value) AS different, MIN(v.value) AS value
FROM (SELECT DISTINCT p.target, $class AS class FROM $fits AS p) AS f
JOIN $values AS v ON v.class = f.class
GROUP BY f.target;

-- name: own_values_of_people
-- List the values of everybody by what is known of them, as attack/shapes prints them; somebody may have several.
-- gives: target (as in attack/known_values), person, value, n (1)
-- engines: duckdb
SELECT DISTINCT valued.target, valued.person, valued.value, 1 AS n
FROM (
  SELECT
    MIN(p.row_id) OVER (PARTITION BY $columns) AS target,
    $unit AS person,
    CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value
  FROM $people AS p
) AS valued;

-- name: own_values
-- Count the rows of a table by what is known of them and by their value, as attack/shapes prints it.
-- gives: target (as in attack/known_values), person (one of their rows), value, n
-- engines: duckdb
SELECT valued.target, MIN(valued.row_id) AS person, valued.value, COUNT(*) AS n
FROM (
  SELECT
    p.row_id,
    MIN(p.row_id) OVER (PARTITION BY $columns) AS target,
    CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value
  FROM $people AS p
) AS valued
GROUP BY valued.target, valued.value;

-- name: believed_values
-- Take what the two releases together say of people for their values, where no table tells these.
SELECT m.target, m.person, b.value, m.n
FROM $members AS m
JOIN $both AS b ON b.target = m.target;

-- name: composed
-- Count the people whose value two releases leave in doubt, and those of whom they tell one together.
SELECT COALESCE(SUM(doubted.n), 0) AS people, COALESCE(SUM(doubted.n * doubted.told), 0) AS told
FROM (
  SELECT o.person, o.n, MAX(CASE WHEN c.different = 1 AND c.value = o.value THEN 1 ELSE 0 END) AS told
  FROM $own AS o
  JOIN $first AS a ON a.target = o.target
  JOIN $second AS b ON b.target = o.target
  JOIN $both AS c ON c.target = o.target
  WHERE a.different > 1 AND b.different > 1
  GROUP BY o.person, o.n
) AS doubted;

-- name: class_targets
-- Take the classes of a release for targets: people of whom its labels are known.
-- gives: target (the class), the labels
SELECT k.class AS target, $labels FROM $classes AS k;

-- name: bounded_below
-- Count who is among k in two classes, and in both among fewer, at least and at most, and who is alone for certain.
SELECT
  COALESCE(SUM(CASE WHEN b.most < $k THEN b.least ELSE 0 END), 0) AS least,
  COALESCE(SUM(CASE WHEN b.least < $k THEN LEAST(b.most, $k - 1) ELSE 0 END), 0) AS most,
  COALESCE(SUM(CASE WHEN b.most = 1 THEN b.least ELSE 0 END), 0) AS alone
FROM $bounds AS b
JOIN $first AS a ON a.class = b.first
JOIN $second AS o ON o.class = b.second
WHERE a.n >= $k AND o.n >= $k;

-- name: bounded_composed
-- Count whose value two classes tell together and neither alone, at least and at most.
SELECT COALESCE(SUM(b.least), 0) AS least, COALESCE(SUM(b.most), 0) AS most
FROM $bounds AS b
JOIN (SELECT v.class, COUNT(*) AS different FROM $first AS v GROUP BY v.class) AS a ON a.class = b.first
JOIN (SELECT v.class, COUNT(*) AS different FROM $second AS v GROUP BY v.class) AS o ON o.class = b.second
WHERE b.different = 1 AND a.different > 1 AND o.different > 1;

-- name: shared_bounds
-- Bound how many rows two classes of two releases of the same rows share, by the values that both have.
-- gives: first, second, least, most, different (values)
SELECT bounded.first, bounded.second, SUM(bounded.least) AS least, SUM(bounded.most) AS most, COUNT(*) AS different
FROM (
  SELECT
    matched.first, matched.second, matched.most,
    GREATEST(
      0,
      matched.firsts + matched.most - SUM(matched.most) OVER (PARTITION BY matched.first, matched.value),
      matched.seconds + matched.most - SUM(matched.most) OVER (PARTITION BY matched.second, matched.value)
    ) AS least
  FROM (
    SELECT o.target AS first, o.class AS second, a.value, a.n AS firsts, b.n AS seconds, LEAST(a.n, b.n) AS most
    FROM $overlaps AS o
    JOIN $first AS a ON a.class = o.target
    JOIN $second AS b ON b.class = o.class AND b.value = a.value
  ) AS matched
) AS bounded
GROUP BY bounded.first, bounded.second;

-- name: exposed_people
-- Count the people who appeared and vanished between two releases, and those of them, or who stayed beside them, in groups of fewer than k.
SELECT
  COALESCE(SUM(c.came), 0) AS appeared,
  COALESCE(SUM(c.went), 0) AS vanished,
  COALESCE(SUM(
    CASE WHEN c.came_least < $k THEN c.came ELSE 0 END + CASE WHEN c.went_least < $k THEN c.went ELSE 0 END
  ), 0) AS exposed,
  COALESCE(SUM(
    CASE WHEN c.came_least = 1 THEN 1 ELSE 0 END + CASE WHEN c.went_least = 1 THEN 1 ELSE 0 END
  ), 0) AS alone,
  COALESCE(SUM(CASE WHEN c.stayed < $k AND c.came + c.went > 0 THEN c.stayed ELSE 0 END), 0) AS stayed
FROM (
  -- As few people as may be behind the rows that are seen to come: those with most of them.
  SELECT
    p.part,
    SUM(CASE WHEN p.appeared > 0 AND p.came > 0 THEN 1 ELSE 0 END) AS came,
    SUM(CASE WHEN p.vanished > 0 AND p.went > 0 THEN 1 ELSE 0 END) AS went,
    SUM(CASE WHEN p.stayed > 0 THEN 1 ELSE 0 END) AS stayed,
    SUM(CASE WHEN p.came > 0 AND p.came_to - p.came < p.appeared THEN 1 ELSE 0 END) AS came_least,
    SUM(CASE WHEN p.went > 0 AND p.went_to - p.went < p.vanished THEN 1 ELSE 0 END) AS went_least
  FROM (
    SELECT
      m.part,
      m.came,
      m.went,
      m.stayed,
      m.appeared,
      m.vanished,
      SUM(m.came) OVER (PARTITION BY m.part ORDER BY m.came DESC, m.person ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS came_to,
      SUM(m.went) OVER (PARTITION BY m.part ORDER BY m.went DESC, m.person ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS went_to
    FROM $moves AS m
  ) AS p
  GROUP BY p.part
) AS c;

-- name: exposed
-- Count the rows that appeared and vanished between two releases, and those of them, or that stayed beside them, in groups of fewer than k.
SELECT
  COALESCE(SUM(c.appeared), 0) AS appeared,
  COALESCE(SUM(c.vanished), 0) AS vanished,
  COALESCE(SUM(
    CASE WHEN c.appeared < $k THEN c.appeared ELSE 0 END + CASE WHEN c.vanished < $k THEN c.vanished ELSE 0 END
  ), 0) AS exposed,
  COALESCE(SUM(
    CASE WHEN c.appeared = 1 THEN 1 ELSE 0 END + CASE WHEN c.vanished = 1 THEN 1 ELSE 0 END
  ), 0) AS alone,
  COALESCE(SUM(CASE WHEN c.stayed < $k AND c.appeared + c.vanished > 0 THEN c.stayed ELSE 0 END), 0) AS stayed
FROM (
  SELECT
    d.part,
    SUM(GREATEST(d.after - d.before, 0)) AS appeared,
    SUM(GREATEST(d.before - d.after, 0)) AS vanished,
    SUM(LEAST(d.before, d.after)) AS stayed
  FROM $changes AS d
  GROUP BY d.part
) AS c;

-- name: certain_people
-- Count the people who came to a group or left it, all with one value, which the groups themselves do not tell.
SELECT COUNT(*) AS certain
FROM $moves AS m
JOIN (
  SELECT
    d.part,
    SUM(CASE WHEN d.after > d.before THEN 1 ELSE 0 END) AS values_gained,
    SUM(CASE WHEN d.after < d.before THEN 1 ELSE 0 END) AS values_lost,
    SUM(CASE WHEN d.after > 0 THEN 1 ELSE 0 END) AS values_after,
    SUM(CASE WHEN d.before > 0 THEN 1 ELSE 0 END) AS values_before
  FROM $changes AS d
  GROUP BY d.part
) AS c ON c.part = m.part
WHERE
  (c.values_lost = 0 AND c.values_gained = 1 AND c.values_after > 1 AND m.came > 0)
  OR (c.values_gained = 0 AND c.values_lost = 1 AND c.values_before > 1 AND m.went > 0);

-- name: certain
-- Count the rows that came to a group or left it, all with one value, which the groups themselves do not tell.
SELECT COALESCE(SUM(
  CASE
    WHEN c.values_lost = 0 AND c.values_gained = 1 AND c.values_after > 1 THEN c.moved
    WHEN c.values_gained = 0 AND c.values_lost = 1 AND c.values_before > 1 THEN c.moved
    ELSE 0
  END
), 0) AS certain
FROM (
  SELECT
    d.part,
    SUM(ABS(d.after - d.before)) AS moved,
    SUM(CASE WHEN d.after > d.before THEN 1 ELSE 0 END) AS values_gained,
    SUM(CASE WHEN d.after < d.before THEN 1 ELSE 0 END) AS values_lost,
    SUM(CASE WHEN d.after > 0 THEN 1 ELSE 0 END) AS values_after,
    SUM(CASE WHEN d.before > 0 THEN 1 ELSE 0 END) AS values_before
  FROM $changes AS d
  GROUP BY d.part
) AS c;

-- name: moves_of_people
-- Count everybody's rows that came to each group of classes, left it and stayed, beside those of the group that look so.
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
) AS seen ON seen.part = people.part;

-- name: changes
-- Count the rows of each group of classes by their values, before and after.
SELECT counted.part, counted.value, SUM(counted.before) AS before, SUM(counted.after) AS after
FROM (
  SELECT g.part, b.value, b.n AS before, 0 AS after FROM $before AS b JOIN $groups AS g ON g.node = b.class
  UNION ALL
  SELECT g.part, a.value, 0 AS before, a.n AS after FROM $after AS a JOIN $groups AS g ON g.node = -a.class
) AS counted
GROUP BY counted.part, counted.value;

-- name: links
-- Link the classes of two releases that may share somebody, both ways; those of the second have negative numbers.
SELECT o.target AS node, -o.class AS other FROM $overlaps AS o
UNION ALL
SELECT -o.class AS node, o.target AS other FROM $overlaps AS o;

-- name: own_groups
-- Begin with every class of two releases in a group of its own; those of the second have negative numbers.
SELECT a.class AS node, a.class AS part FROM $first AS a
UNION ALL
SELECT -b.class AS node, -b.class AS part FROM $second AS b;

-- name: joined_groups
-- Let every class join the group with the lowest number among its own and those of the classes linked to it.
SELECT g.node, LEAST(g.part, COALESCE(MIN(o.part), g.part)) AS part
FROM $groups AS g
LEFT JOIN $links AS l ON l.node = g.node
LEFT JOIN $groups AS o ON o.node = l.other
GROUP BY g.node, g.part;

-- name: followed_groups
-- Let every class follow the class that its group is named after to the group where that is now.
SELECT g.node, o.part FROM $groups AS g JOIN $groups AS o ON o.node = g.part;

-- name: groups_sum
-- Add up the numbers of all groups: as long as groups join, it falls.
SELECT COALESCE(SUM(g.part), 0) AS total FROM $groups AS g;
