-- What the order of the released rows reveals about the order of the source.

-- name: drawn_rows
-- Draw a sample of a table's first rows, by the smallest hash of their number and a seed, from the part of all rows that a faster hash selects.
SELECT drawn.row_id
FROM (
  SELECT r.row_id, MD5(CAST(r.row_id AS TEXT) || $seed) AS digest
  FROM $copied AS r
  WHERE r.row_id <= $rows AND r.row_id * 2654435761 % 4294967296 <= $part * 4294967296
) AS drawn
ORDER BY drawn.digest, drawn.row_id
LIMIT $most;

-- name: row_pairs
-- Pair rows of one table with the rows of another a fixed distance further on, wrapping around at the end.
SELECT s.way, d.row_id, (d.row_id - 1 + s.shift) % $rows + 1 AS other FROM $drawn AS d CROSS JOIN $shifts AS s;

-- name: drawn_ids
-- List the drawn rows.
SELECT d.row_id FROM $drawn AS d ORDER BY d.row_id;

-- name: ranked_pairs
-- Number the rows that have the same rank when each table is sorted by its columns, whose places are counted from 0.
-- columns: way ('sorted'), row_id, other
SELECT 'sorted' AS way, r.place + 1 AS row_id, r.place_there + 1 AS other FROM $ranked AS r;

-- name: rows_of_pairs
-- Select the rows of a table that occur on one side of the pairs.
SELECT r.row_id, $columns
FROM $copied AS r
JOIN (SELECT DISTINCT $side AS side FROM $pairs AS p) AS taken ON taken.side = r.row_id;

-- name: fitting_pairs
-- Keep the pairs of rows where the label of one covers the value of the other.
SELECT p.way, p.row_id, p.other
FROM $pairs AS p
JOIN (SELECT h.row_id, COALESCE('=' || CAST($column AS TEXT), '') AS label FROM $here AS h) AS a ON a.row_id = p.row_id
JOIN (SELECT t.row_id, COALESCE('=' || CAST($column AS TEXT), '') AS value FROM $there AS t) AS b ON b.row_id = p.other
JOIN $covers AS c ON c.label = a.label AND c.value = b.value;

-- name: equal_pairs
-- Keep the pairs of rows with the same value; NULL equals NULL.
SELECT p.way, p.row_id, p.other
FROM $pairs AS p
JOIN (SELECT h.row_id, COALESCE('=' || CAST($column AS TEXT), '') AS value FROM $here AS h) AS a ON a.row_id = p.row_id
JOIN (SELECT t.row_id, COALESCE('=' || CAST($column AS TEXT), '') AS value FROM $there AS t) AS b
  ON b.row_id = p.other AND b.value = a.value;

-- name: pair_counts
-- Count the pairs of rows by the way they were paired.
SELECT p.way, COUNT(*) AS n FROM $pairs AS p GROUP BY p.way;

-- name: rows_of_fits
-- Select the rows of a table that match a class.
SELECT p.row_id, $columns FROM $people AS p WHERE p.row_id IN (SELECT f.target FROM $fits AS f);

-- name: valued_rows
-- Show every row of a table as its target (its values) and its shape, the text of attack_versions/shapes.
-- columns: row_id, target (as in attack_versions/known_values), value
-- engines: duckdb
SELECT
  p.row_id,
  MIN(p.row_id) OVER (PARTITION BY $columns) AS target,
  CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value
FROM $people AS p;

-- name: released_values
-- Show every row of a release with its class and its shape, the text of attack_versions/shapes.
-- engines: duckdb
SELECT r.row_id, r.class, $values, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value
FROM $numbered AS r;

-- name: rows_of_classes
-- Select the rows of a release in classes that people match.
SELECT r.row_id, r.class, $kept FROM $release AS r WHERE r.class IN (SELECT f.class FROM $fits AS f);

-- name: row_count
-- Count the rows of classes.
SELECT SUM(k.n) AS rows FROM $classes AS k;

-- name: settled_classes
-- Find the classes whose people are all identified: as many match this class, and no other, as it has rows.
SELECT placed.class
FROM (
  SELECT f.class, COUNT(*) OVER (PARTITION BY p.row_id) AS classes
  FROM $people AS p
  JOIN $fits AS f ON f.target = p.target
) AS placed
JOIN $classes AS k ON k.class = placed.class
GROUP BY placed.class, k.n
HAVING COUNT(*) = k.n AND MAX(placed.classes) = 1;

-- name: same_by_chance
-- Compute how many rows of classes would look like the row at the same place if both orders were random.
SELECT COALESCE(SUM(c.squares / CAST(c.n AS DOUBLE)), 0) AS expected
FROM (
  SELECT s.class, SUM(s.n) AS n, SUM(s.n * s.n) AS squares
  FROM $shapes AS s
  JOIN $whole AS w ON w.class = s.class
  GROUP BY s.class
) AS c;

-- name: same_places
-- Count the rows of classes, and those that look like the source row at the same place of the class.
SELECT COUNT(*) AS rows, COALESCE(SUM(CASE WHEN a.value = b.value THEN 1 ELSE 0 END), 0) AS same
FROM (
  SELECT r.class, r.value, ROW_NUMBER() OVER (PARTITION BY r.class ORDER BY $order) AS place
  FROM $released AS r
  JOIN $whole AS w ON w.class = r.class
) AS a
JOIN (
  SELECT f.class, p.value, ROW_NUMBER() OVER (PARTITION BY f.class ORDER BY p.row_id) AS place
  FROM $people AS p
  JOIN $fits AS f ON f.target = p.target
) AS b ON b.class = a.class AND b.place = a.place;

-- name: sure_rows
-- Find the released rows of classes that match exactly one source row, if that row matches no other released row.
-- columns: shown (row number in the release), class, place (row number in the source)
SELECT matched.row_id AS shown, matched.class, matched.place
FROM (
  SELECT
    s.row_id, s.class, p.row_id AS place, s.n,
    COUNT(*) OVER (PARTITION BY p.row_id) AS shapes,
    COUNT(*) OVER (PARTITION BY s.row_id) AS people
  FROM $people AS p
  JOIN $fits AS f ON f.target = p.target
  JOIN $shapes AS s ON s.class = f.class AND s.value = p.value
) AS matched
JOIN $classes AS k ON k.class = matched.class
WHERE matched.n = 1 AND matched.shapes = 1 AND matched.people = 1;

-- name: in_order
-- Count the pairs of neighbouring rows in each sorted class, and those that are also in the order of the source.
SELECT COUNT(*) AS neighbours, COALESCE(SUM(CASE WHEN beside.place > beside.before THEN 1 ELSE 0 END), 0) AS ordered
FROM (
  SELECT s.place, LAG(s.place) OVER (PARTITION BY s.class ORDER BY $order) AS before
  FROM $sure AS s
  JOIN $release AS r ON r.row_id = s.shown
) AS beside
WHERE beside.before IS NOT NULL;
