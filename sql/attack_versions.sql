-- What several releases about the same people reveal together.

-- name: shapes
-- Count the rows of each class by shape: the given columns as one text, with one example row.
-- gives: class, value (the shape), row_id (of the example), n (rows)
-- engines: duckdb
SELECT valued.class, valued.value, MIN(valued.row_id) AS row_id, COUNT(*) AS n
FROM (
  SELECT r.row_id, r.class, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value FROM $numbered AS r
) AS valued
GROUP BY valued.class, valued.value;

-- name: values
-- Count the rows of each class by the given columns, as the text of attack_versions/shapes.
-- gives: class, value, n (rows)
-- engines: duckdb
SELECT valued.class, valued.value, SUM(valued.n) AS n
FROM (SELECT r.class, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value, r.n FROM $numbered AS r) AS valued
GROUP BY valued.class, valued.value;

-- name: distinct_texts
-- List the distinct texts of each column.
-- engines: duckdb
SELECT LIST(DISTINCT $columns) FROM $copy AS r;

-- name: classes
-- Number the classes of several releases.
-- gives: class, release, the labels, n (rows)
SELECT ROW_NUMBER() OVER (ORDER BY r.release, $labels) AS class, r.release, $labels, SUM(r.n) AS n
FROM $counted AS r
GROUP BY r.release, $labels;

-- name: smallest_classes
-- Count the rows of the smallest class of each release.
-- gives: release, size
SELECT k.release, MIN(k.n) AS size FROM $classes AS k GROUP BY k.release;

-- name: smallest_classes_of_people
-- Count the people of the smallest class of each release.
-- gives: release, size
SELECT sizes.release, MIN(sizes.people) AS size
FROM (SELECT r.release, COUNT(DISTINCT $unit) AS people FROM $numbered AS r GROUP BY r.release, r.class) AS sizes
GROUP BY sizes.release;

-- name: value_codes
-- Number the values of an attribute, from 0 in the order of their texts.
-- gives: value, text, code
SELECT v.value, v.text, ROW_NUMBER() OVER (ORDER BY v.text, v.value) - 1 AS code
FROM (SELECT DISTINCT p.value, CAST(p.value AS TEXT) AS text FROM (SELECT $value AS value FROM $people AS p) AS p) AS v;

-- name: values_by_code
-- List the values of an attribute and their texts, in the order of their codes.
SELECT c.value, c.text FROM $codes AS c ORDER BY c.code;

-- name: known_values
-- List the distinct combinations of known values, each numbered by one of its rows (a target).
-- gives: target (a row's number), the columns, n (rows)
SELECT MIN(p.row_id) AS target, $columns, COUNT(*) AS n FROM $people AS p GROUP BY $columns;

-- name: in_both
-- Pair the classes that match each target in an earlier release and in the new one, for every person behind the target; 0 means no class.
-- gives: release (the earlier one), target, person, first, second, n
SELECT l.release, m.target, m.person, COALESCE(a.class, 0) AS first, COALESCE(b.class, 0) AS second, m.n
FROM $members AS m
CROSS JOIN $limits AS l
LEFT JOIN (
  SELECT f.target, f.class, k.release FROM $first AS f JOIN $classes AS k ON k.class = f.class
) AS a ON a.target = m.target AND a.release = l.release
LEFT JOIN $second AS b ON b.target = m.target
WHERE a.class IS NOT NULL OR b.class IS NOT NULL;

-- name: cells
-- Number the distinct pairs of classes of each earlier release and the new one.
-- gives: class (the number of a pair), release, first, second
SELECT ROW_NUMBER() OVER (ORDER BY p.release, p.first, p.second) AS class, p.release, p.first, p.second
FROM $pairs AS p
GROUP BY p.release, p.first, p.second;

-- name: in_cells
-- List the numbered pairs of classes that match each target.
SELECT p.release, p.target, p.person, c.class, p.n
FROM $pairs AS p
JOIN $cells AS c ON c.release = p.release AND c.first = p.first AND c.second = p.second;

-- name: members
-- Treat all people with the same known values as one target, if there is no unit column.
-- gives: target, person, n (people)
SELECT t.target, t.target AS person, t.n FROM $tuples AS t;

-- name: members_of_people
-- List the people behind each target; a person with several rows may be behind several targets.
-- gives: target (as in attack_versions/known_values), person, n (1)
SELECT DISTINCT keyed.target, keyed.person, 1 AS n
FROM (SELECT MIN(p.row_id) OVER (PARTITION BY $columns) AS target, $unit AS person FROM $people AS p) AS keyed;

-- name: hidden
-- Find how many people each target hides among: those of the largest class that it matches, a lower bound.
SELECT f.release, f.target, MAX(sizes.n) AS among
FROM (SELECT DISTINCT p.release, p.target, $class AS class FROM $fits AS p) AS f
JOIN (
  SELECT one.release, one.class, SUM(one.n) AS n
  FROM (SELECT DISTINCT p.release, p.person, $class AS class, p.n FROM $fits AS p) AS one
  GROUP BY one.release, one.class
) AS sizes ON sizes.release = f.release AND sizes.class = f.class
GROUP BY f.release, f.target;

-- name: narrowed
-- Find the targets that hide among k people in each of two releases, but among fewer in every pair of their classes.
SELECT b.release, b.target
FROM $both AS b
JOIN $first AS a ON a.release = b.release AND a.target = b.target
JOIN $second AS o ON o.release = b.release AND o.target = b.target
JOIN $limits AS l ON l.release = b.release
WHERE a.among >= l.k AND o.among >= l.k AND b.among < l.k;

-- name: company
-- Count the people who match any of the pairs of classes that a target matches.
SELECT shared.release, shared.target, SUM(shared.n) AS among
FROM (
  SELECT DISTINCT s.release, s.target, o.person, o.n
  FROM $narrowed AS s
  JOIN $fits AS f ON f.release = s.release AND f.target = s.target
  JOIN $fits AS o ON o.class = f.class
) AS shared
GROUP BY shared.release, shared.target;

-- name: hidden_in_both
-- Count the people who hide among k in each of two releases.
SELECT hidden.release, SUM(hidden.n) AS people
FROM (
  SELECT DISTINCT a.release, m.person, m.n
  FROM $members AS m
  JOIN $first AS a ON a.target = m.target
  JOIN $second AS b ON b.release = a.release AND b.target = m.target
  JOIN $limits AS l ON l.release = a.release
  WHERE a.among >= l.k AND b.among >= l.k
) AS hidden
GROUP BY hidden.release;

-- name: below
-- Count the people who hide among fewer than k, and those who are alone.
SELECT
  found.release,
  SUM(CASE WHEN found.among < l.k THEN found.n ELSE 0 END) AS below,
  SUM(CASE WHEN found.among = 1 THEN found.n ELSE 0 END) AS alone
FROM (
  SELECT c.release, m.person, m.n, MIN(c.among) AS among
  FROM $candidates AS c
  JOIN $members AS m ON m.target = c.target
  GROUP BY c.release, m.person, m.n
) AS found
JOIN $limits AS l ON l.release = found.release
GROUP BY found.release;

-- name: common_values
-- List the values that both classes of a pair contain: a person in both classes has one of them.
SELECT c.class, a.value
FROM $cells AS c
JOIN $first AS a ON a.class = c.first
JOIN $second AS b ON b.class = c.second AND b.value = a.value;

-- name: possible_values
-- Count the values that each target may have, given the classes that it matches.
-- gives: release, target, different (values), value (the first one)
SELECT f.release, f.target, COUNT(DISTINCT v.value) AS different, MIN(v.value) AS value
FROM (SELECT DISTINCT p.release, p.target, $class AS class FROM $fits AS p) AS f
JOIN $values AS v ON v.class = f.class
GROUP BY f.release, f.target;

-- name: own_values_of_people
-- List the values of every person by target, as the text of attack_versions/shapes; a person may have several.
-- gives: target (as in attack_versions/known_values), person, value, n (1)
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
-- Count the rows of a table by target and value, as the text of attack_versions/shapes.
-- gives: target (as in attack_versions/known_values), person (one of their rows), value, n
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

-- name: unknown_values
-- Treat all people as having any value, if no table contains the true ones.
SELECT m.target, m.person, CAST(NULL AS TEXT) AS value, m.n FROM $members AS m;

-- name: composed
-- Count the people whose value is uncertain in each of two releases, and those whose value both releases together reveal.
SELECT doubted.release, SUM(doubted.n) AS people, SUM(doubted.n * doubted.told) AS told
FROM (
  SELECT c.release, o.person, o.n, MAX(CASE WHEN c.different = 1 AND COALESCE(o.value, c.value) = c.value THEN 1 ELSE 0 END) AS told
  FROM $own AS o
  JOIN $both AS c ON c.target = o.target
  JOIN $first AS a ON a.release = c.release AND a.target = o.target
  JOIN $second AS b ON b.release = c.release AND b.target = o.target
  WHERE a.different > 1 AND b.different > 1
  GROUP BY c.release, o.person, o.n
) AS doubted
GROUP BY doubted.release;

-- name: class_targets
-- Use the classes of a release as targets: people whose labels are known.
-- gives: target (the class), the labels
SELECT k.class AS target, $labels FROM $classes AS k;

-- name: bounded_below
-- Bound the number of people who are among k in two classes but among fewer in both together, and count who is certainly alone.
SELECT
  COALESCE(SUM(CASE WHEN b.most < $k THEN b.least ELSE 0 END), 0) AS least,
  COALESCE(SUM(CASE WHEN b.least < $k THEN LEAST(b.most, $k - 1) ELSE 0 END), 0) AS most,
  COALESCE(SUM(CASE WHEN b.most = 1 THEN b.least ELSE 0 END), 0) AS alone
FROM $bounds AS b
JOIN $first AS a ON a.class = b.first
JOIN $second AS o ON o.class = b.second
WHERE a.n >= $k AND o.n >= $k;

-- name: bounded_composed
-- Bound the number of people whose value two classes reveal together, but neither of them alone.
SELECT COALESCE(SUM(b.least), 0) AS least, COALESCE(SUM(b.most), 0) AS most
FROM $bounds AS b
JOIN (SELECT v.class, COUNT(*) AS different FROM $first AS v GROUP BY v.class) AS a ON a.class = b.first
JOIN (SELECT v.class, COUNT(*) AS different FROM $second AS v GROUP BY v.class) AS o ON o.class = b.second
WHERE b.different = 1 AND a.different > 1 AND o.different > 1;

-- name: shared_bounds
-- Bound the number of rows that two classes of two releases of the same rows share, by the values that both contain.
-- gives: first, second, least, most, different (values)
SELECT bounded.first, bounded.second, SUM(bounded.least) AS least, SUM(bounded.most) AS most, COUNT(*) AS different
FROM (
  SELECT
    matched.first, matched.second, matched.most,
    -- per value: at most the smaller count; at least what one class has left after its other partners took all they can
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
-- Count the people who appeared and who vanished between two releases, and those who appeared in, vanished from or stayed in a group as fewer than k.
SELECT
  c.release,
  COALESCE(SUM(c.came), 0) AS appeared,
  COALESCE(SUM(c.went), 0) AS vanished,
  COALESCE(SUM(
    CASE WHEN c.came_least < l.k THEN c.came ELSE 0 END + CASE WHEN c.went_least < l.k THEN c.went ELSE 0 END
  ), 0) AS exposed,
  COALESCE(SUM(
    CASE WHEN c.came_least = 1 THEN 1 ELSE 0 END + CASE WHEN c.went_least = 1 THEN 1 ELSE 0 END
  ), 0) AS alone,
  COALESCE(SUM(CASE WHEN c.stayed < l.k AND c.came + c.went > 0 THEN c.stayed ELSE 0 END), 0) AS stayed
FROM (
  -- came_least, went_least: the fewest people who can account for a group's arrivals and departures, those with most rows first
  SELECT
    p.release,
    p.part,
    SUM(CASE WHEN p.appeared > 0 AND p.came > 0 THEN 1 ELSE 0 END) AS came,
    SUM(CASE WHEN p.vanished > 0 AND p.went > 0 THEN 1 ELSE 0 END) AS went,
    SUM(CASE WHEN p.stayed > 0 THEN 1 ELSE 0 END) AS stayed,
    SUM(CASE WHEN p.came > 0 AND p.came_to - p.came < p.appeared THEN 1 ELSE 0 END) AS came_least,
    SUM(CASE WHEN p.went > 0 AND p.went_to - p.went < p.vanished THEN 1 ELSE 0 END) AS went_least
  FROM (
    SELECT
      m.release,
      m.part,
      m.came,
      m.went,
      m.stayed,
      m.appeared,
      m.vanished,
      SUM(m.came) OVER (PARTITION BY m.release, m.part ORDER BY m.came DESC, m.person ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS came_to,
      SUM(m.went) OVER (PARTITION BY m.release, m.part ORDER BY m.went DESC, m.person ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS went_to
    FROM $moves AS m
  ) AS p
  GROUP BY p.release, p.part
) AS c
JOIN $limits AS l ON l.release = c.release
GROUP BY c.release;

-- name: exposed
-- Count the rows that appeared and that vanished between two releases, and those that appeared in, vanished from or stayed in a group as fewer than k.
SELECT
  c.release,
  COALESCE(SUM(c.appeared), 0) AS appeared,
  COALESCE(SUM(c.vanished), 0) AS vanished,
  COALESCE(SUM(
    CASE WHEN c.appeared < l.k THEN c.appeared ELSE 0 END + CASE WHEN c.vanished < l.k THEN c.vanished ELSE 0 END
  ), 0) AS exposed,
  COALESCE(SUM(
    CASE WHEN c.appeared = 1 THEN 1 ELSE 0 END + CASE WHEN c.vanished = 1 THEN 1 ELSE 0 END
  ), 0) AS alone,
  COALESCE(SUM(CASE WHEN c.stayed < l.k AND c.appeared + c.vanished > 0 THEN c.stayed ELSE 0 END), 0) AS stayed
FROM (
  SELECT
    d.release,
    d.part,
    SUM(GREATEST(d.after - d.before, 0)) AS appeared,
    SUM(GREATEST(d.before - d.after, 0)) AS vanished,
    SUM(LEAST(d.before, d.after)) AS stayed
  FROM $changes AS d
  GROUP BY d.release, d.part
) AS c
JOIN $limits AS l ON l.release = c.release
GROUP BY c.release;

-- name: certain_people
-- Count the people who joined or left a group of classes and all have one value, which the group itself does not reveal.
SELECT m.release, COUNT(*) AS certain
FROM $moves AS m
JOIN (
  SELECT
    d.release,
    d.part,
    SUM(CASE WHEN d.after > d.before THEN 1 ELSE 0 END) AS values_gained,
    SUM(CASE WHEN d.after < d.before THEN 1 ELSE 0 END) AS values_lost,
    SUM(CASE WHEN d.after > 0 THEN 1 ELSE 0 END) AS values_after,
    SUM(CASE WHEN d.before > 0 THEN 1 ELSE 0 END) AS values_before
  FROM $changes AS d
  GROUP BY d.release, d.part
) AS c ON c.release = m.release AND c.part = m.part
WHERE
  (c.values_lost = 0 AND c.values_gained = 1 AND c.values_after > 1 AND m.came > 0)
  OR (c.values_gained = 0 AND c.values_lost = 1 AND c.values_before > 1 AND m.went > 0)
GROUP BY m.release;

-- name: certain
-- Count the rows that joined or left a group of classes and all have one value, which the group itself does not reveal.
SELECT c.release, COALESCE(SUM(
  CASE
    WHEN c.values_lost = 0 AND c.values_gained = 1 AND c.values_after > 1 THEN c.moved
    WHEN c.values_gained = 0 AND c.values_lost = 1 AND c.values_before > 1 THEN c.moved
    ELSE 0
  END
), 0) AS certain
FROM (
  SELECT
    d.release,
    d.part,
    SUM(ABS(d.after - d.before)) AS moved,
    SUM(CASE WHEN d.after > d.before THEN 1 ELSE 0 END) AS values_gained,
    SUM(CASE WHEN d.after < d.before THEN 1 ELSE 0 END) AS values_lost,
    SUM(CASE WHEN d.after > 0 THEN 1 ELSE 0 END) AS values_after,
    SUM(CASE WHEN d.before > 0 THEN 1 ELSE 0 END) AS values_before
  FROM $changes AS d
  GROUP BY d.release, d.part
) AS c
GROUP BY c.release;

-- name: moves_of_people
-- Count the rows of each person that joined, left and stayed in each group of classes, with the arrivals and departures of the group.
-- gives: release, part, person, came, went, stayed (rows of the person), appeared, vanished (rows of the group)
SELECT people.release, people.part, people.person, people.came, people.went, people.stayed, seen.appeared, seen.vanished
FROM (
  SELECT
    own.release,
    own.part,
    own.person,
    SUM(GREATEST(own.after - own.before, 0)) AS came,
    SUM(GREATEST(own.before - own.after, 0)) AS went,
    SUM(LEAST(own.before, own.after)) AS stayed
  FROM (
    SELECT counted.release, counted.part, counted.person, SUM(counted.before) AS before, SUM(counted.after) AS after
    FROM (
      SELECT g.release, g.part, $unit AS person, $values, b.n AS before, 0 AS after
      FROM $before AS b JOIN $groups AS g ON g.node = b.class
      UNION ALL
      SELECT g.release, g.part, $unit AS person, $values, 0 AS before, a.n AS after
      FROM $after AS a JOIN $groups AS g ON g.node = -a.class
    ) AS counted
    GROUP BY counted.release, counted.part, counted.person, $values
  ) AS own
  GROUP BY own.release, own.part, own.person
) AS people
JOIN (
  SELECT
    c.release,
    c.part,
    SUM(GREATEST(c.after - c.before, 0)) AS appeared,
    SUM(GREATEST(c.before - c.after, 0)) AS vanished
  FROM $changes AS c
  GROUP BY c.release, c.part
) AS seen ON seen.release = people.release AND seen.part = people.part;

-- name: changes
-- Count the rows of each group of classes by their values in other columns, before and after.
-- gives: release, part, the columns, before, after
SELECT counted.release, counted.part, $values, SUM(counted.before) AS before, SUM(counted.after) AS after
FROM (
  SELECT g.release, g.part, $values, b.n AS before, 0 AS after FROM $before AS b JOIN $groups AS g ON g.node = b.class
  UNION ALL
  SELECT g.release, g.part, $values, 0 AS before, a.n AS after FROM $after AS a JOIN $groups AS g ON g.node = -a.class
) AS counted
GROUP BY counted.release, counted.part, $values;

-- name: links
-- Link the classes of two releases that may share people, in both directions; classes of the second have negative numbers.
-- gives: release (the earlier one), node, other
SELECT k.release, o.target AS node, -o.class AS other FROM $overlaps AS o JOIN $first AS k ON k.class = o.target
UNION ALL
SELECT k.release, -o.class AS node, o.target AS other FROM $overlaps AS o JOIN $first AS k ON k.class = o.target;

-- name: own_groups
-- Start with every class of each earlier release and of the new one in a separate group; classes of the new one have negative numbers.
SELECT a.release, a.class AS node, a.class AS part FROM $first AS a
UNION ALL
SELECT l.release, -b.class AS node, -b.class AS part FROM $limits AS l CROSS JOIN $second AS b;

-- name: joined_groups
-- Move every class to the group with the lowest number among its current group and those of the classes linked to it.
SELECT g.release, g.node, LEAST(g.part, COALESCE(MIN(o.part), g.part)) AS part
FROM $groups AS g
LEFT JOIN $links AS l ON l.release = g.release AND l.node = g.node
LEFT JOIN $groups AS o ON o.release = l.release AND o.node = l.other
GROUP BY g.release, g.node, g.part;

-- name: followed_groups
-- Move every class to the current group of the class that its group is named after.
SELECT g.release, g.node, o.part FROM $groups AS g JOIN $groups AS o ON o.release = g.release AND o.node = g.part;

-- name: groups_sum
-- Add up the group numbers of all classes: the sum falls as long as groups merge.
SELECT COALESCE(SUM(g.part), 0) AS total FROM $groups AS g;
