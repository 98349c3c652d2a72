-- Which released classes match which people, by their labels.

-- name: classes
-- Number the classes of a release, with their labels and row counts.
-- columns: class, the labels, n (rows)
SELECT ROW_NUMBER() OVER (ORDER BY $labels) AS class, $labels, COUNT(*) AS n
FROM $release AS r
GROUP BY $labels;

-- name: coarser_classes
-- Number the classes of a release by some of its labels, with their row counts.
-- columns: class, the labels, n (rows)
SELECT ROW_NUMBER() OVER (ORDER BY $labels) AS class, $labels, SUM(k.n) AS n
FROM $classes AS k
GROUP BY $labels;

-- name: targets
-- Draw a sample of rows to attack, by the smallest hash of their number and a seed, from the part of all rows that a faster hash selects.
-- columns: target (the row's number), the columns
SELECT p.row_id AS target, $columns FROM $people AS p
WHERE p.row_id * 2654435761 % 4294967296 <= $part * 4294967296
ORDER BY MD5(CAST(p.row_id AS TEXT) || $seed), p.row_id
LIMIT $most;

-- name: targets_of_people
-- Draw a sample of people to attack, one row per person, by the smallest hash of their row number and a seed.
-- columns: target (the row's number), the columns
-- engines: duckdb
SELECT p.row_id AS target, $columns
FROM $people AS p
JOIN (
  SELECT ARG_MIN(q.row_id, MD5(CAST(q.row_id AS TEXT) || $seed)) AS first
  FROM $people AS q
  GROUP BY $unit
  ORDER BY MIN(MD5(CAST(q.row_id AS TEXT) || $seed)), first
  LIMIT $most
) AS drawn ON drawn.first = p.row_id;

-- name: truths
-- Return the true value of every target, as a key that is never NULL.
-- columns: target, value (a key)
SELECT t.target, p.value
FROM $targets AS t
JOIN (SELECT q.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $people AS q) AS p
  ON p.row_id = t.target;

-- name: first_places
-- Start with all classes at one place, the root of a prefix tree of labels: no attribute has been compared.
SELECT k.class, 1 AS place FROM $classes AS k;

-- name: labels_of_values
-- List the labels of one attribute that cover each value of the targets, as keys.
SELECT v.value, c.label
FROM (SELECT $value AS value FROM $targets AS t GROUP BY $value) AS v
JOIN $covers AS c ON c.value = COALESCE('=' || CAST(v.value AS TEXT), '');

-- name: first_fitting
-- Place every target at the labels of the first attribute that cover its value; the other columns remain to be compared.
SELECT t.target, covering.place, $others
FROM (SELECT $id AS target, $value AS value, $others FROM $targets AS t) AS t
JOIN (
  SELECT v.value, p.place
  FROM (SELECT $value AS value FROM $targets AS t GROUP BY $value) AS v
  JOIN $covers AS c ON c.value = COALESCE('=' || CAST(v.value AS TEXT), '')
  JOIN (SELECT DISTINCT a.label, a.place FROM $places AS a) AS p ON p.label = c.label
) AS covering ON $same;

-- name: next_places
-- Split the places of classes by the label of one more attribute, as a key that is never NULL; `before` is the previous place.
SELECT parted.class, parted.before, parted.label, DENSE_RANK() OVER (ORDER BY parted.before, parted.label) AS place
FROM (
  SELECT p.class, p.place AS before, COALESCE('=' || CAST(k.label AS TEXT), '') AS label
  FROM $places AS p
  JOIN (SELECT k.class, $label AS label FROM $classes AS k) AS k ON k.class = p.class
) AS parted;

-- name: next_fitting
-- Move every target to the places whose next label covers its value; the other columns remain to be compared.
SELECT f.target, p.place, $others
FROM (SELECT f.target, f.place, COALESCE('=' || CAST($value AS TEXT), '') AS value, $others FROM $fitting AS f) AS f
JOIN $covers AS c ON c.value = f.value
JOIN (SELECT DISTINCT a.before, a.label, a.place FROM $places AS a) AS p
  ON p.before = f.place AND p.label = c.label;

-- name: fits
-- List the classes that each target matches.
SELECT f.target, p.class FROM $fitting AS f JOIN $places AS p ON p.place = f.place;

-- name: labels
-- List the distinct labels of one attribute.
SELECT DISTINCT $label AS label FROM $classes AS k;

-- name: values
-- List the targets' distinct values of one attribute, also as text.
SELECT $value AS value, CAST($value AS TEXT) AS text FROM $targets AS t GROUP BY $value;

-- name: codes
-- Number the distinct values of one attribute in their order, from 0.
SELECT v.value, CAST(ROW_NUMBER() OVER (ORDER BY v.value) - 1 AS INTEGER) AS code_0
FROM (SELECT $value AS value FROM $people AS p GROUP BY $value) AS v;

-- name: code_count
-- Count the numbered values of one attribute, and find the number of NULL, if it occurs.
SELECT COUNT(*) AS size, MAX(CASE WHEN c.value IS NULL THEN c.code_0 END) AS null_code FROM $codes AS c;

-- name: texts_of_codes
-- List the texts of some numbered values of one attribute.
SELECT c.code_0, CAST(c.value AS TEXT) AS text FROM $codes AS c WHERE c.code_0 IN (SELECT d.code FROM $drawn AS d);

-- name: codes_of_texts
-- List the numbered values of one attribute that have some texts, as keys that are never NULL.
SELECT CAST(c.value AS TEXT) AS text, c.code_0
FROM $codes AS c
WHERE COALESCE('=' || CAST(c.value AS TEXT), '') IN (SELECT d.text_key FROM $drawn AS d);

-- name: coded_values
-- List the numbered values of one attribute in their order, also as text.
SELECT c.value, CAST(c.value AS TEXT) AS text FROM $codes AS c ORDER BY c.code_0;

-- name: unplaced
-- Start with an empty home for every row; a home lists the row's generalized codes.
SELECT r.row_id, '' AS home FROM $copied AS r;

-- name: placed
-- Extend the home of every row by the code that one more attribute is generalized to.
SELECT p.row_id, p.home || ',' || CAST(m.own AS TEXT) AS home
FROM $placed AS p
JOIN (SELECT r.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $copied AS r) AS v ON v.row_id = p.row_id
JOIN $mapping AS m ON m.value = v.value;
