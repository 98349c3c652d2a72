-- Which values of a sensitive column remain possible after all releases of a series are intersected: an independent check of a new release with the earlier ones. Releases are numbered, and a higher number is older.

-- name: release_rows
-- Count the distinct rows of a release by the texts of their cells.
-- columns: release, the columns, n
SELECT $release AS release, $columns, COUNT(*) AS n
FROM (SELECT CAST($texts AS TEXT) FROM $relation AS r) AS rows
GROUP BY $columns;

-- name: classes
-- Number the classes of all releases by their labels.
-- columns: class, the labels
SELECT ROW_NUMBER() OVER (ORDER BY $labels) AS class, $labels
FROM (SELECT DISTINCT $labels FROM $series AS s) AS classes;

-- name: classed_rows
-- Replace the labels of rows by the number of their class.
-- columns: release, class, the columns, n
SELECT s.release, c.class, $columns, s.n FROM $series AS s INNER JOIN $classes AS c ON $same;

-- name: steady_values
-- List the values of each class that all releases show equally often in the same rows.
-- columns: class, the value
SELECT DISTINCT k.class, $value
FROM (
  SELECT r.class, $columns FROM $rows AS r
  GROUP BY r.class, $columns
  HAVING COUNT(*) = $releases AND MIN(r.n) = MAX(r.n)
) AS k;

-- name: changing_rows
-- Number the rows that releases contain in different numbers.
-- columns: number, class, the columns
SELECT ROW_NUMBER() OVER (ORDER BY k.class, $columns) AS number, k.class, $columns
FROM (
  SELECT r.class, $columns FROM $rows AS r
  GROUP BY r.class, $columns
  HAVING COUNT(*) < $releases OR MIN(r.n) < MAX(r.n)
) AS k;

-- name: changing_counts
-- Count how often each release contains each of these rows.
-- columns: number, class, the value, release, n
SELECT c.number, c.class, $value, releases.release, COALESCE(found.n, 0) AS n
FROM $changing AS c
CROSS JOIN $releases AS releases
LEFT JOIN (
  SELECT c.number, r.release, r.n FROM $changing AS c INNER JOIN $rows AS r ON r.class = c.class AND $same
) AS found ON found.number = c.number AND found.release = releases.release;

-- name: changed_pairs
-- List the pairs of releases between which each class changes.
-- columns: class, older, newer
SELECT DISTINCT o.class, o.release AS older, c.release AS newer
FROM $counts AS o
INNER JOIN $counts AS c ON c.number = o.number AND c.release < o.release
WHERE c.n <> o.n;

-- name: value_sets
-- List what a reader can learn about a person of a class: the values of the class in a release (way 0), and of the rows that came (1), went (2) or stayed (3) between two releases.
-- columns: class, older, newer, way, the value
SELECT c.class, c.release AS older, c.release AS newer, 0 AS way, $value FROM $counts AS c WHERE c.n > 0
UNION
SELECT s.class, releases.release AS older, releases.release AS newer, 0 AS way, $value
FROM $steady AS s CROSS JOIN $releases AS releases
UNION
SELECT o.class, o.release AS older, c.release AS newer, CASE WHEN c.n > o.n THEN 1 ELSE 2 END AS way, $value
FROM $counts AS o
INNER JOIN (SELECT n.number, n.release, n.n FROM $counts AS n) AS c ON c.number = o.number AND c.release < o.release
WHERE c.n <> o.n
UNION
SELECT pairs.class, pairs.older, pairs.newer, 3 AS way, $value
FROM $counts AS o
INNER JOIN (SELECT n.number, n.release, n.n FROM $counts AS n) AS c ON c.number = o.number AND c.release < o.release
INNER JOIN $pairs AS pairs ON pairs.class = o.class AND pairs.older = o.release AND pairs.newer = c.release
WHERE LEAST(c.n, o.n) > 0
UNION
SELECT s.class, pairs.older, pairs.newer, 3 AS way, $value
FROM $steady AS s INNER JOIN $pairs AS pairs ON pairs.class = s.class;

-- name: remaining_values
-- List the values of each class that are in all of its sets.
-- columns: class, the value
SELECT s.class, $value
FROM (SELECT DISTINCT d.class, d.older || ' ' || d.newer || ' ' || d.way AS place, $value FROM $sets AS d) AS s
INNER JOIN (
  SELECT d.class, COUNT(DISTINCT d.older || ' ' || d.newer || ' ' || d.way) AS places FROM $sets AS d GROUP BY d.class
) AS totals ON totals.class = s.class
GROUP BY s.class, totals.places, $value
HAVING COUNT(DISTINCT s.place) = totals.places;

-- name: fewest_in_classes
-- Find the fewest values that remain in a class, and the number of classes with too few.
-- columns: fewest (NULL without classes), few
SELECT MIN(counted.n) AS fewest, COALESCE(SUM(CASE WHEN counted.n < $least THEN 1 ELSE 0 END), 0) AS few
FROM (
  SELECT c.class, COUNT(r.class) AS n FROM $classes AS c LEFT JOIN $remaining AS r ON r.class = c.class GROUP BY c.class
) AS counted;

-- name: movers
-- List the people who left one class and came to another, with all classes where the number of their rows changes.
-- columns: owner, class
SELECT moves.owner, moves.class
FROM (
  SELECT
    own.owner, own.class,
    SUM(MAX(own.came)) OVER (PARTITION BY own.owner) AS came,
    SUM(MAX(own.went)) OVER (PARTITION BY own.owner) AS went,
    COUNT(*) OVER (PARTITION BY own.owner) AS classes
  FROM (
    SELECT
      o.owner, o.class, CASE WHEN c.n > o.n THEN 1 ELSE 0 END AS came, CASE WHEN c.n < o.n THEN 1 ELSE 0 END AS went
    FROM (SELECT n.number, n.class, $owner, n.release, n.n FROM $counts AS n) AS o
    INNER JOIN (SELECT n.number, n.release, n.n FROM $counts AS n) AS c ON c.number = o.number AND c.release = o.release - 1
    WHERE o.owner IS NOT NULL AND c.n <> o.n
  ) AS own
  GROUP BY own.owner, own.class
) AS moves
WHERE moves.came > 0 AND moves.went > 0 AND moves.classes > 1;

-- name: fewest_of_movers
-- Find the fewest values that remain in all classes of a person who moved, and the number of people with too few.
-- columns: fewest (NULL if no one moved), few
SELECT MIN(people.n) AS fewest, COALESCE(SUM(CASE WHEN people.n < $least THEN 1 ELSE 0 END), 0) AS few
FROM (
  SELECT totals.owner, COUNT(shared.owner) AS n
  FROM (SELECT DISTINCT m.owner FROM $movers AS m) AS totals
  LEFT JOIN (
    SELECT found.owner
    FROM (SELECT m.owner, r.class, $value FROM $movers AS m INNER JOIN $remaining AS r ON r.class = m.class) AS found
    INNER JOIN (
      SELECT m.owner, COUNT(*) AS classes FROM $movers AS m GROUP BY m.owner
    ) AS moved ON moved.owner = found.owner
    GROUP BY found.owner, moved.classes, $value
    HAVING COUNT(*) = moved.classes
  ) AS shared ON shared.owner = totals.owner
  GROUP BY totals.owner
) AS people;
