-- Merging unsafe classes into others until every class is safe.

-- name: largest_parts
-- Assign every tuple that was split between classes to the class of its largest part.
-- engines: duckdb
SELECT $keys, SUM(n) AS n, ARG_MAX(class, ROW(n, class)) AS class
FROM $assignment
GROUP BY $keys;

-- name: joined
-- Replace the class of every tuple whose class joins another by that class.
SELECT $columns, COALESCE(j.into, a.class) AS class
FROM $assignment AS a
LEFT JOIN $joined AS j ON j.class = a.class;

-- name: unsafe
-- List the classes that do not meet the privacy model.
SELECT m.class AS class
FROM $members AS m
GROUP BY m.class
HAVING NOT COALESCE($safe, FALSE);

-- name: examples
-- Choose an example of each class: the codes of one of its largest tuples, on every level.
-- engines: duckdb
SELECT class, $levels
FROM (
  SELECT class, $levels, ROW_NUMBER() OVER (PARTITION BY class ORDER BY n DESC, $levels) AS place
  FROM $members
) AS members
WHERE place = 1;

-- name: nearest
-- Find, for every unsafe class, the classes with the nearest examples, by the hierarchy steps until two examples are equal.
-- columns: pair (from 1), class, target, place (from 0, the nearest first)
-- engines: duckdb
SELECT ROW_NUMBER() OVER (ORDER BY class, place) AS pair, class, target, place
FROM (
  SELECT class, UNNEST(targets) AS target, UNNEST(RANGE(LEN(targets))) AS place
  FROM (
    SELECT a.class AS class, ARG_MIN(b.class, ROW($between, b.class), $most) AS targets
    FROM $unsafe AS u
    INNER JOIN $examples AS a ON a.class = u.class
    INNER JOIN $examples AS b ON b.class <> a.class
    GROUP BY a.class
  ) AS nearest
) AS pairs;

-- name: pair_members
-- List the rows of each pair of classes as one class.
-- columns: class (the pair), the columns
-- engines: duckdb
SELECT p.pair AS class, $columns FROM $pairs AS p INNER JOIN $members AS m ON m.class = p.class
UNION ALL
SELECT p.pair AS class, $columns FROM $pairs AS p INNER JOIN $members AS m ON m.class = p.target;

-- name: chosen
-- Choose, for every unsafe class, the nearest class with which it is safe, or the nearest of all if none is safe.
-- engines: duckdb
SELECT p.class AS class, ARG_MIN(p.target, ROW(NOT u.class IS NULL, p.place)) AS target
FROM $pairs AS p
LEFT JOIN $unsafe AS u ON u.class = p.pair
GROUP BY p.class
ORDER BY MIN(CASE WHEN u.class IS NULL THEN 0 ELSE 1 END), MIN(p.place), p.class;

-- name: ranked
-- Rank the classes: first the ones that do not meet the privacy model, then the others, both with the largest first.
-- columns: class, unsafe (1, or 0), place (from 1)
SELECT c.class, c.unsafe, ROW_NUMBER() OVER (ORDER BY c.unsafe DESC, c.rows DESC, c.class) AS place
FROM (
  SELECT m.class AS class, SUM(m.n) AS rows, CASE WHEN COALESCE($safe, FALSE) THEN 0 ELSE 1 END AS unsafe
  FROM $members AS m
  GROUP BY m.class
) AS c;

-- name: ranks
-- Count the classes that do not meet the privacy model, and all classes.
SELECT COALESCE(SUM(r.unsafe), 0) AS unsafe, COUNT(*) AS classes FROM $ranked AS r;

-- name: first
-- List the rows of the first classes in rank order.
SELECT $columns
FROM $members AS m
JOIN $ranked AS r ON r.class = m.class
WHERE r.place <= $most;

-- name: one
-- Merge the first classes in rank order into one.
-- columns: the columns, class (0)
SELECT $columns, 0 AS class
FROM $assignment AS a
JOIN $ranked AS r ON r.class = a.class
WHERE r.place <= $most;

-- name: replaced
-- Replace the first classes in rank order by other classes of the same tuples.
-- columns: the columns, class (the new classes are numbered above all existing ones)
SELECT $columns, a.class AS class
FROM $assignment AS a
JOIN $ranked AS r ON r.class = a.class
WHERE r.place > $most
UNION ALL
SELECT $columns, m.class + l.last + 1 AS class
FROM $added AS m
CROSS JOIN (SELECT MAX(r.class) AS last FROM $ranked AS r) AS l;
