-- Which released classes fit which known people, by labels.

-- name: classes
-- Number the classes of a release, with their labels and rows.
-- gives: class, the labels, n (rows)
SELECT ROW_NUMBER() OVER (ORDER BY $labels) AS class, $labels, COUNT(*) AS n
FROM $release AS r
GROUP BY $labels;

-- name: targets
-- Draw people to attack from a table, one row of each: those with the smallest hashes of their row's number and a seed.
-- gives: target (the row's number), the columns
SELECT drawn.row_id AS target, $columns
FROM (
  SELECT
    p.row_id,
    $columns,
    MD5(CAST(p.row_id AS TEXT) || $seed) AS hash,
    ROW_NUMBER() OVER (PARTITION BY $one ORDER BY MD5(CAST(p.row_id AS TEXT) || $seed), p.row_id) AS place
  FROM $people AS p
) AS drawn
WHERE drawn.place = 1
ORDER BY drawn.hash, drawn.row_id
LIMIT $most;

-- name: truths
-- Give the value that each target has in truth, as a key that NULL has too.
-- gives: target, value (a key)
SELECT t.target, p.value
FROM $targets AS t
JOIN (SELECT q.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $people AS q) AS p
  ON p.row_id = t.target;

-- name: first_places
-- Begin with all classes at one place: nothing of their labels has been looked at.
SELECT k.class, 1 AS place FROM $classes AS k;

-- name: first_fitting
-- Begin with every target at the one place where all classes are.
SELECT t.target, 1 AS place FROM $targets AS t;

-- name: next_places
-- Part the places of classes by one more label, as a key that NULL has too; `before` is where they were.
SELECT parted.class, parted.before, parted.label, DENSE_RANK() OVER (ORDER BY parted.before, parted.label) AS place
FROM (
  SELECT p.class, p.place AS before, COALESCE('=' || CAST(k.label AS TEXT), '') AS label
  FROM $places AS p
  JOIN (SELECT k.class, $label AS label FROM $classes AS k) AS k ON k.class = p.class
) AS parted;

-- name: next_fitting
-- Go on with the places whose next label may stand for what is known of a target.
SELECT f.target, p.place
FROM $fitting AS f
JOIN (SELECT t.target, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $targets AS t) AS t
  ON t.target = f.target
JOIN $covers AS c ON c.value = t.value
JOIN (SELECT DISTINCT a.before, a.label, a.place FROM $places AS a) AS p
  ON p.before = f.place AND p.label = c.label;

-- name: fits
-- List the classes that each target may stand in.
SELECT f.target, p.class FROM $fitting AS f JOIN $places AS p ON p.place = f.place;

-- name: labels
-- List the labels that classes have of one attribute.
SELECT DISTINCT $label AS label FROM $classes AS k;

-- name: values
-- List what is known of the targets' values of one attribute, and how each prints.
SELECT DISTINCT $value AS value, CAST($value AS TEXT) AS text FROM $targets AS t;

-- name: unplaced
-- Begin with all rows at one home: nothing of them has been looked at.
SELECT r.row_id, '' AS home FROM $copied AS r;

-- name: placed
-- Part the places of rows by what one more attribute of theirs becomes.
SELECT p.row_id, p.home || ',' || CAST(m.own AS TEXT) AS home
FROM $placed AS p
JOIN (SELECT r.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $copied AS r) AS v ON v.row_id = p.row_id
JOIN $mapping AS m ON m.value = v.value;
