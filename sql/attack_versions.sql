-- What several releases about the same people reveal together.

-- name: shapes
-- Count the rows of each class by shape: the given columns as one text, with one example row.
-- columns: class, value (the shape), row_id (of the example), n (rows)
-- engines: duckdb
SELECT valued.class, valued.value, MIN(valued.row_id) AS row_id, COUNT(*) AS n
FROM (
  SELECT r.row_id, r.class, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value FROM $numbered AS r
) AS valued
GROUP BY valued.class, valued.value;

-- name: row_counts
-- Count the equal rows of a release by their keys.
SELECT r.row_key, COUNT(*) AS n FROM $keyed AS r GROUP BY r.row_key;

-- name: bucket_sums
-- Add up the keys of the rows of each release in buckets.
SELECT r.place, r.row_key % $buckets AS bucket, SUM(r.row_key) AS total
FROM $keyed AS r
GROUP BY r.place, r.row_key % $buckets;

-- name: differing_buckets
-- Find the buckets in which a release has other rows than the one before it; the new one is at place 0.
-- columns: release, bucket
SELECT sums.release, sums.bucket
FROM (
  SELECT a.place - 1 AS release, a.bucket, a.total FROM $sums AS a WHERE a.place > 0
  UNION ALL
  SELECT b.place AS release, b.bucket, -b.total AS total FROM $sums AS b WHERE b.place < $releases
) AS sums
GROUP BY sums.release, sums.bucket
HAVING SUM(sums.total) <> 0;

-- name: steps
-- Count how many more rows each release has than the one before it, by key, in buckets that differ.
-- columns: release, row_key, more
SELECT b.release, k.row_key, SUM(b.more) AS more
FROM (SELECT r.place, r.row_key, r.row_key % $buckets AS bucket FROM $keyed AS r) AS k
JOIN (
  SELECT d.release, d.bucket, d.release + 1 AS place, 1 AS more FROM $differing AS d
  UNION ALL
  SELECT d.release, d.bucket, d.release AS place, -1 AS more FROM $differing AS d
) AS b ON b.place = k.place AND b.bucket = k.bucket
GROUP BY b.release, k.row_key
HAVING SUM(b.more) <> 0;

-- name: differing_bucket_counts
-- Count the buckets in which each release differs from the one before it.
SELECT d.release, COUNT(*) AS n FROM $differing AS d GROUP BY d.release;

-- name: differences
-- Find the rows that each release has more often or less often than the new one, by adding up the steps that lead to it.
-- columns: release, row_key, before (rows in it), after (rows in the new one)
SELECT sums.release, sums.row_key, COALESCE(r.n, 0) + sums.more AS before, COALESCE(r.n, 0) AS after
FROM (
  SELECT o.release, s.row_key, SUM(s.more) AS more
  FROM $releases AS o
  JOIN $steps AS s ON s.release <= o.release
  GROUP BY o.release, s.row_key
  HAVING SUM(s.more) <> 0
) AS sums
LEFT JOIN $counted AS r ON r.row_key = sums.row_key;

-- name: older_rows
-- List the rows that the new release does not have any more.
SELECT DISTINCT o.row_key, $columns
FROM $keyed AS o
WHERE o.row_key IN (SELECT d.row_key FROM $differences AS d WHERE d.after = 0);

-- name: all_rows
-- List the rows of the new release, and the rows that it no longer has.
-- columns: row_key, the columns, n (1 or 0)
SELECT r.row_key, $columns, 1 AS n FROM $keyed AS r
UNION ALL
SELECT o.row_key, $columns, 0 AS n FROM $older AS o;

-- name: numbered_rows
-- Count the equal rows in the new release.
-- columns: row_key, class, the columns, n
SELECT r.row_key, r.class, $columns, SUM(r.n) AS n FROM $classed AS r GROUP BY r.row_key, r.class, $columns;

-- name: classes
-- Number the classes of several releases.
-- columns: class, the labels, n (rows in the new release)
SELECT ROW_NUMBER() OVER (ORDER BY $labels) AS class, $labels, SUM(r.n) AS n
FROM $listed AS r
GROUP BY $labels;

-- name: changed_classes
-- Count the rows of all classes in which an earlier release has other rows than the new one.
-- columns: release (the earlier one), class, before, after (rows in both)
SELECT d.release, k.class, MIN(k.n) + SUM(d.before - d.after) AS before, MIN(k.n) AS after
FROM $differences AS d
JOIN $numbered AS r ON r.row_key = d.row_key
JOIN $classes AS k ON k.class = r.class
GROUP BY d.release, k.class;

-- name: class_values
-- Count the rows of each class of the new release by one column.
-- columns: class, value (a key that is never NULL), n
SELECT valued.class, COALESCE('=' || CAST(valued.value AS TEXT), '') AS value, valued.n
FROM (
  SELECT r.class, $value AS value, SUM(r.n) AS n FROM $numbered AS r WHERE r.n > 0 GROUP BY r.class, $value
) AS valued;

-- name: changed_values
-- Count the values in a column of each changed class that only the new release has, and those that only an earlier one has.
-- columns: release (the earlier one), class, different (values in the new release), gained, lost
SELECT
  moved.release,
  moved.class,
  COALESCE(MIN(counted.different), 0) AS different,
  SUM(CASE WHEN v.n + moved.more = 0 THEN 1 ELSE 0 END) AS gained,
  SUM(CASE WHEN v.n IS NULL THEN 1 ELSE 0 END) AS lost
FROM (
  SELECT d.release, d.class, COALESCE('=' || CAST(d.value AS TEXT), '') AS value, d.more
  FROM (
    SELECT d.release, r.class, $value AS value, SUM(d.before - d.after) AS more
    FROM $differences AS d
    JOIN $numbered AS r ON r.row_key = d.row_key
    GROUP BY d.release, r.class, $value
  ) AS d
) AS moved
LEFT JOIN $values AS v ON v.class = moved.class AND v.value = moved.value
LEFT JOIN (SELECT w.class, COUNT(*) AS different FROM $values AS w GROUP BY w.class) AS counted ON counted.class = moved.class
GROUP BY moved.release, moved.class;

-- name: smallest_class
-- Count the rows of the smallest class of a release.
SELECT MIN(k.n) AS size FROM (SELECT $labels, COUNT(*) AS n FROM $copy AS r GROUP BY $labels) AS k;

-- name: smallest_class_of_people
-- Count the people of the smallest class of a release.
SELECT MIN(k.people) AS size FROM (SELECT $labels, COUNT(DISTINCT $unit) AS people FROM $copy AS r GROUP BY $labels) AS k;

-- name: smallest_changed_classes
-- Count the rows of the smallest changed class of each earlier release.
-- columns: release, size
SELECT c.release, MIN(c.before) AS size FROM $changed AS c WHERE c.before > 0 GROUP BY c.release;

-- name: smallest_changed_classes_of_people
-- Count the people of the smallest changed class of each earlier release, from those who are in only one of two releases.
-- columns: release, size
SELECT c.release, MIN(c.different - c.gained + c.lost) AS size
FROM $values AS c
WHERE c.different - c.gained + c.lost > 0
GROUP BY c.release;

-- name: value_codes
-- Number the values of an attribute, from 0 in the order of their texts.
-- columns: value, text, code
SELECT v.value, v.text, ROW_NUMBER() OVER (ORDER BY v.text, v.value) - 1 AS code
FROM (SELECT DISTINCT p.value, CAST(p.value AS TEXT) AS text FROM (SELECT $value AS value FROM $people AS p) AS p) AS v;

-- name: values_by_code
-- List the values of an attribute and their texts, in the order of their codes.
SELECT c.value, c.text FROM $codes AS c ORDER BY c.code;

-- name: known_values
-- List the distinct combinations of known values, each numbered by one of its rows (a target).
-- columns: target (a row's number), the columns, n (rows)
SELECT MIN(p.row_id) AS target, $columns, COUNT(*) AS n FROM $people AS p GROUP BY $columns;

-- name: members
-- Treat all people with the same known values as one target, without a unit column.
-- columns: target, person, n (people)
SELECT t.target, t.target AS person, t.n FROM $tuples AS t;

-- name: members_of_people
-- List the people behind each target; a person with several rows may be behind several targets.
-- columns: target (as in attack_versions/known_values), person, n (1)
SELECT DISTINCT keyed.target, keyed.person, 1 AS n
FROM (SELECT MIN(p.row_id) OVER (PARTITION BY $columns) AS target, $unit AS person FROM $people AS p) AS keyed;

-- name: classes_of_one
-- List the classes that only one of two releases has.
-- columns: release (the earlier one), class
SELECT c.release, c.class FROM $changed AS c WHERE c.before = 0 OR c.after = 0;

-- name: classes_of_few_values
-- List the changed classes that have other values in both releases, and at most one that both have.
-- columns: release (the earlier one), class
SELECT v.release, v.class FROM $values AS v WHERE v.gained + v.lost > 0 AND v.different - v.gained <= 1;

-- name: near_targets
-- List the targets that match one of the suspect classes.
SELECT DISTINCT s.release, f.target FROM $suspects AS s JOIN $fits AS f ON f.class = s.class;

-- name: near_classes
-- List all classes that these targets match.
SELECT DISTINCT t.release, f.class FROM $targets AS t JOIN $fits AS f ON f.target = t.target;

-- name: all_classes
-- List all classes for each earlier release.
SELECT l.release, k.class FROM $classes AS k CROSS JOIN $limits AS l;

-- name: fits_of_side
-- List which classes each target matches in the earlier or the new release, depending on the column of rows.
SELECT shown.release, shown.target, shown.class
FROM (
  SELECT w.release, f.target, f.class, COALESCE($side, k.n) AS n
  FROM $near AS w
  JOIN $fits AS f ON f.class = w.class
  JOIN $classes AS k ON k.class = w.class
  LEFT JOIN $changed AS c ON c.release = w.release AND c.class = w.class
) AS shown
WHERE shown.n > 0;

-- name: in_both
-- Pair the classes that match each target in an earlier release and in the new one, for every person behind the target; 0 means no class.
-- columns: release (the earlier one), target, person, first, second, n
SELECT f.release, f.target, m.person, f.first, f.second, m.n
FROM (
  SELECT
    COALESCE(a.release, b.release) AS release,
    COALESCE(a.target, b.target) AS target,
    COALESCE(a.class, 0) AS first,
    COALESCE(b.class, 0) AS second
  FROM $first AS a
  FULL JOIN $second AS b ON b.release = a.release AND b.target = a.target
) AS f
JOIN $members AS m ON m.target = f.target;

-- name: cells
-- Number the distinct pairs of classes of each earlier release and the new one.
-- columns: class (the number of a pair), release, first, second
SELECT ROW_NUMBER() OVER (ORDER BY p.release, p.first, p.second) AS class, p.release, p.first, p.second
FROM $pairs AS p
GROUP BY p.release, p.first, p.second;

-- name: in_cells
-- List the numbered pairs of classes that match each target.
SELECT p.release, p.target, p.person, c.class, p.n
FROM $pairs AS p
JOIN $cells AS c ON c.release = p.release AND c.first = p.first AND c.second = p.second;

-- name: hidden
-- Find how many people each target hides among: the people of the largest class that it matches, a lower bound.
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

-- name: values
-- Count the rows of classes by the given columns in an earlier release and the new one, as the text of attack_versions/shapes.
-- columns: release (the earlier one), class, value, before, after
-- engines: duckdb
SELECT valued.release, valued.class, valued.value, SUM(valued.before) AS before, SUM(valued.after) AS after
FROM (
  SELECT
    w.release,
    r.class,
    CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value,
    COALESCE(d.before, r.n) AS before,
    r.n AS after
  FROM $near AS w
  JOIN $numbered AS r ON r.class = w.class
  LEFT JOIN $differences AS d ON d.release = w.release AND d.row_key = r.row_key
) AS valued
GROUP BY valued.release, valued.class, valued.value;

-- name: values_of_side
-- List the values in one of two releases, depending on the column of rows.
-- columns: release (the earlier one), class, value, n
SELECT v.release, v.class, v.value, v.n FROM (SELECT v.release, v.class, v.value, $side AS n FROM $values AS v) AS v WHERE v.n > 0;

-- name: common_values
-- List the values that both classes of a pair contain: a person in both classes has one of them.
-- columns: release, class (the number of a pair), value
SELECT c.release, c.class, a.value
FROM $cells AS c
JOIN $first AS a ON a.release = c.release AND a.class = c.first
JOIN $second AS b ON b.release = c.release AND b.class = c.second AND b.value = a.value;

-- name: possible_values
-- Count the values that each target may have, given the classes that it matches.
-- columns: release, target, different (values), value (the first one)
SELECT f.release, f.target, COUNT(DISTINCT v.value) AS different, MIN(v.value) AS value
FROM (SELECT DISTINCT p.release, p.target, $class AS class FROM $fits AS p) AS f
JOIN $values AS v ON v.release = f.release AND v.class = f.class
GROUP BY f.release, f.target;

-- name: own_values_of_people
-- List the values of every person by target, as the text of attack_versions/shapes; a person may have several.
-- columns: target (as in attack_versions/known_values), person, value, n (1)
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
-- columns: target (as in attack_versions/known_values), person (one of their rows), value, n
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
SELECT doubted.release, SUM(doubted.n) AS people, SUM(doubted.n * doubted.revealed) AS revealed
FROM (
  SELECT c.release, o.person, o.n, MAX(CASE WHEN c.different = 1 AND COALESCE(o.value, c.value) = c.value THEN 1 ELSE 0 END) AS revealed
  FROM $own AS o
  JOIN $both AS c ON c.target = o.target
  JOIN $first AS a ON a.release = c.release AND a.target = o.target
  JOIN $second AS b ON b.release = c.release AND b.target = o.target
  WHERE a.different > 1 AND b.different > 1
  GROUP BY c.release, o.person, o.n
) AS doubted
GROUP BY doubted.release;

-- name: earlier_classes
-- Use the classes of all earlier releases as targets: people whose labels are known.
-- columns: target (the class), the labels
SELECT k.class AS target, $labels
FROM $classes AS k
LEFT JOIN (SELECT c.class, COUNT(*) AS n FROM $changed AS c WHERE c.before = 0 GROUP BY c.class) AS lacking
  ON lacking.class = k.class
WHERE COALESCE(lacking.n, 0) < $releases;

-- name: new_classes
-- List the classes of the new release.
-- columns: class, the labels, n (rows)
SELECT k.class, $labels, k.n FROM $classes AS k WHERE k.n > 0;

-- name: bounded_below
-- Bound the number of people who are among k in two classes but among fewer in both together, and count who is certainly alone.
SELECT
  COALESCE(SUM(CASE WHEN b.most < $k THEN b.least ELSE 0 END), 0) AS least,
  COALESCE(SUM(CASE WHEN b.least < $k THEN LEAST(b.most, $k - 1) ELSE 0 END), 0) AS most,
  COALESCE(SUM(CASE WHEN b.most = 1 THEN b.least ELSE 0 END), 0) AS alone
FROM $bounds AS b
JOIN (SELECT v.class, SUM(v.n) AS n FROM $first AS v GROUP BY v.class) AS a ON a.class = b.first
JOIN (SELECT v.class, SUM(v.n) AS n FROM $second AS v GROUP BY v.class) AS o ON o.class = b.second
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
-- columns: first, second, least, most, different (values)
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

-- name: crossings
-- Pair the different classes of each earlier release and the new one that may share people.
-- columns: release (the earlier one), node (its class), other (a class of the new release)
SELECT l.release, o.target AS node, o.class AS other
FROM $overlaps AS o
JOIN $classes AS k ON k.class = o.target
CROSS JOIN $limits AS l
LEFT JOIN $changed AS c ON c.release = l.release AND c.class = o.target
WHERE o.target <> o.class AND COALESCE(c.before, k.n) > 0;

-- name: links
-- Link such classes in both directions; a class that both releases have is one node.
SELECT p.release, p.node, p.other FROM $crossings AS p
UNION ALL
SELECT p.release, p.other AS node, p.node AS other FROM $crossings AS p;

-- name: own_groups
-- Start with every linked class in a separate group.
SELECT DISTINCT l.release, l.node, l.node AS part FROM $links AS l;

-- name: joined_groups
-- Move every class to the group with the lowest number among its current group and the groups of classes linked to it.
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

-- name: changed_parts
-- List the classes of the groups that have a changed class; a class without a link is a group.
-- columns: release (the earlier one), class, part
SELECT g.release, g.node AS class, g.part
FROM $groups AS g
JOIN (
  SELECT DISTINCT h.release, h.part FROM $groups AS h JOIN $changed AS c ON c.release = h.release AND c.class = h.node
) AS having_changed ON having_changed.release = g.release AND having_changed.part = g.part
UNION ALL
SELECT c.release, c.class, c.class AS part
FROM $changed AS c
LEFT JOIN $groups AS g ON g.release = c.release AND g.node = c.class
WHERE g.node IS NULL;

-- name: changes
-- Count the rows that only an earlier release or the new one has in each group of classes, by their values in other columns.
-- columns: release, part, the columns, before, after (without rows that both have)
SELECT d.release, g.part, $values, SUM(d.before) AS before, SUM(d.after) AS after
FROM $differences AS d
JOIN $numbered AS r ON r.row_key = d.row_key
JOIN $parts AS g ON g.release = d.release AND g.class = r.class
GROUP BY d.release, g.part, $values
HAVING SUM(d.before) <> SUM(d.after);

-- name: people_of_parts
-- Count the rows of each person in each group of classes in the new release.
-- columns: release, part, owner (a key), n
SELECT g.release, g.part, v.value AS owner, SUM(v.n) AS n
FROM $parts AS g
JOIN $values AS v ON v.class = g.class
GROUP BY g.release, g.part, v.value;

-- name: moves_of_people
-- Count the rows of each person that joined, left and stayed in each group of classes, with the arrivals and departures of the group.
-- columns: release, part, person (a key), came, went, stayed (rows of the person), appeared, vanished (rows of the group)
SELECT own.release, own.part, own.person, own.came, own.went, COALESCE(p.n, 0) - own.came AS stayed, seen.appeared, seen.vanished
FROM (
  SELECT
    counted.release,
    counted.part,
    COALESCE('=' || CAST(counted.person AS TEXT), '') AS person,
    SUM(GREATEST(counted.after - counted.before, 0)) AS came,
    SUM(GREATEST(counted.before - counted.after, 0)) AS went
  FROM (
    SELECT d.release, g.part, $unit AS person, $values, SUM(d.before) AS before, SUM(d.after) AS after
    FROM $differences AS d
    JOIN $numbered AS r ON r.row_key = d.row_key
    JOIN $parts AS g ON g.release = d.release AND g.class = r.class
    GROUP BY d.release, g.part, $unit, $values
  ) AS counted
  GROUP BY counted.release, counted.part, counted.person
) AS own
JOIN (
  SELECT
    c.release,
    c.part,
    SUM(GREATEST(c.after - c.before, 0)) AS appeared,
    SUM(GREATEST(c.before - c.after, 0)) AS vanished
  FROM $changes AS c
  GROUP BY c.release, c.part
) AS seen ON seen.release = own.release AND seen.part = own.part
LEFT JOIN $people AS p ON p.release = own.release AND p.part = own.part AND p.owner = own.person
WHERE own.came + own.went > 0;

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
    COALESCE(MIN(present.n), 0) - SUM(CASE WHEN p.came > 0 AND p.stayed = 0 THEN 1 ELSE 0 END) AS stayed,
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
  LEFT JOIN (
    SELECT i.release, i.part, COUNT(*) AS n FROM $people AS i GROUP BY i.release, i.part
  ) AS present ON present.release = p.release AND present.part = p.part
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
  COALESCE(SUM(CASE WHEN after.n - c.appeared < l.k THEN after.n - c.appeared ELSE 0 END), 0) AS stayed
FROM (
  SELECT
    d.release,
    d.part,
    SUM(GREATEST(d.after - d.before, 0)) AS appeared,
    SUM(GREATEST(d.before - d.after, 0)) AS vanished
  FROM $changes AS d
  GROUP BY d.release, d.part
) AS c
JOIN (
  SELECT g.release, g.part, SUM(k.n) AS n FROM $parts AS g JOIN $classes AS k ON k.class = g.class GROUP BY g.release, g.part
) AS after ON after.release = c.release AND after.part = c.part
JOIN $limits AS l ON l.release = c.release
GROUP BY c.release;

-- name: certain_parts
-- List the groups of classes in which all rows that came or left have one value, and others do not; `moved` is negative for rows that left.
-- columns: release, part, moved
SELECT DISTINCT one.release, one.part, one.moved
FROM (
  SELECT d.release, d.part, COALESCE('=' || CAST(MIN(d.value) AS TEXT), '') AS value, SUM(d.after - d.before) AS moved
  FROM (SELECT c.release, c.part, $value AS value, c.before, c.after FROM $changes AS c) AS d
  GROUP BY d.release, d.part
  HAVING COUNT(*) = 1
) AS one
JOIN $parts AS g ON g.release = one.release AND g.part = one.part
JOIN $values AS v ON v.class = g.class AND v.value <> one.value;

-- name: certain
-- Count the rows that joined or left a group of classes and all have one value, which the group itself does not reveal.
SELECT c.release, SUM(ABS(c.moved)) AS certain FROM $certain AS c GROUP BY c.release;

-- name: certain_people
-- Count the people who joined or left a group of classes and all have one value, which the group itself does not reveal.
SELECT m.release, COUNT(*) AS certain
FROM $moves AS m
JOIN $certain AS c ON c.release = m.release AND c.part = m.part
WHERE (c.moved > 0 AND m.came > 0) OR (c.moved < 0 AND m.went > 0)
GROUP BY m.release;
