-- Downcoding: infer narrower labels for a class from what its labels and those of other classes cover (Cohen, 2022).

-- name: hidden_cells
-- Count the rows whose label of one attribute covers several values.
SELECT COALESCE(SUM(k.n), 0) AS rows
FROM (SELECT k.n, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k
JOIN $sizes AS s ON s.label = k.label AND s.size > 1;

-- name: label_shares
-- Compute the share of each value among the people whose value a label covers.
SELECT c.label, c.value, v.raw, v.n / CAST(SUM(v.n) OVER (PARTITION BY c.label) AS DOUBLE) AS share
FROM $covers AS c
JOIN (
  SELECT $value AS raw, COALESCE('=' || CAST($value AS TEXT), '') AS value, COUNT(*) AS n FROM $people AS t GROUP BY $value
) AS v ON v.value = c.value;

-- name: claims_right
-- Count the claims that a class contains a person with a value, the correct claims, and the number expected to be correct by chance.
SELECT
  COUNT(*) AS claims,
  COUNT(h.class) AS correct,
  -- the probability that at least one of s.people random people has the value
  COALESCE(SUM(1 - POWER(1 - c.share, s.people)), 0) AS expected
FROM (SELECT k.class, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k
JOIN $claims AS c ON c.label = k.label
JOIN (SELECT f.class, COUNT(*) AS people FROM $fits AS f GROUP BY f.class) AS s ON s.class = k.class
LEFT JOIN (
  SELECT DISTINCT f.class, t.value
  FROM $fits AS f
  JOIN (SELECT t.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $people AS t) AS t ON t.row_id = f.target
) AS h ON h.class = k.class AND h.value = c.value;

-- name: first_lines
-- Start with all classes on one line (the labels of all attributes except one), before any attribute is added.
-- columns: class, line, hole (the attribute left out, 0 for none), several (1 if its label covers several values)
SELECT k.class, '' AS line, 0 AS hole, 0 AS several FROM $classes AS k;

-- name: next_lines
-- Add one attribute to every line: its label if that covers a single value, or a gap; a class with two labels of several values has no line.
SELECT l.class, l.line || ',' || s.value AS line, l.hole, l.several
FROM $lines AS l
JOIN (SELECT k.class, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k ON k.class = l.class
JOIN $sizes AS s ON s.label = k.label AND s.size = 1
UNION ALL
SELECT l.class, l.line || '#' AS line, $number AS hole, CASE WHEN s.size > 1 THEN 1 ELSE 0 END AS several
FROM $lines AS l
JOIN (SELECT k.class, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k ON k.class = l.class
JOIN $sizes AS s ON s.label = k.label
WHERE l.hole = 0;

-- name: exact_classes
-- List the classes with a single value in every attribute that share a line with a class whose left-out label covers several values.
SELECT k.class, $labels, k.n FROM $classes AS k
WHERE k.class IN (
  SELECT l.class FROM $lines AS l JOIN $lines AS o ON o.line = l.line AND o.hole = l.hole AND o.several = 1
  WHERE l.several = 0 AND l.hole > 0
);

-- name: whole_classes
-- List the classes that contain all people who match their labels.
SELECT k.class FROM $classes AS k JOIN $fits AS f ON f.class = k.class GROUP BY k.class, k.n HAVING COUNT(*) = k.n;

-- name: narrowed_labels
-- Count the rows whose label of one attribute covers fewer values than it shows, because other classes contain everybody with the remaining values.
-- columns: rows, certain (rows with one value left)
SELECT COALESCE(SUM(a.n), 0) AS rows, COALESCE(SUM(CASE WHEN a.size - a.others = 1 THEN a.n END), 0) AS certain
FROM (
  SELECT o.class, k.n, s.size, COUNT(*) AS others
  FROM $lines AS o
  JOIN (SELECT k.class, k.n, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k
    ON k.class = o.class
  JOIN $sizes AS s ON s.label = k.label
  JOIN $lines AS l ON l.line = o.line AND l.hole = o.hole AND l.several = 0
  JOIN $whole AS w ON w.class = l.class
  JOIN (SELECT k.class, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS x ON x.class = l.class
  JOIN $sizes AS e ON e.label = x.label
  JOIN $covers AS c ON c.label = k.label AND c.value = e.value
  WHERE o.hole = $number AND o.several = 1
  GROUP BY o.class, k.n, s.size
) AS a;

-- name: label_sizes
-- Count the values that each label covers, and return one of them.
SELECT c.label, MIN(c.value) AS value, COUNT(*) AS size FROM $covers AS c GROUP BY c.label;
