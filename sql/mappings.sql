-- Hierarchies as mapping tables: a row per value, with its code on each level.

-- name: column_values
-- List the distinct values of one quasi-identifier, with the rows that hold each.
-- gives: value, n (rows)
SELECT $column AS value, CAST(SUM(t.n) AS BIGINT) AS n FROM $tuples AS t GROUP BY $column;

-- name: column_texts
-- List the distinct values of one quasi-identifier as they print, with the rows that hold each.
-- gives: value (text), n (rows)
SELECT CAST($column AS TEXT) AS value, CAST(SUM(t.n) AS BIGINT) AS n FROM $tuples AS t GROUP BY $column;

-- name: equal_values
-- Give for every value the row in which an equal one came first, by the equality of its own type and collation.
SELECT v.row, MIN(v.row) OVER (PARTITION BY v.value) AS first, v.value FROM $values AS v;

-- name: in_one_writing
-- Take a column of a relation as texts, each text that stands for the same value as another as the first of those.
SELECT
  COALESCE((SELECT MIN(w._first) FROM $writings AS w WHERE w._text = CAST($column AS TEXT)), CAST($column AS TEXT)),
  $columns
FROM $relation AS r;

-- name: settled_values
-- Count the values that a column can hold, the different ones among them, and those that print as they were written.
SELECT
  (SELECT COUNT(*) FROM $values AS v WHERE v.value IS NOT NULL) AS held,
  (SELECT COUNT(*) FROM (SELECT v.value FROM $values AS v WHERE v.value IS NOT NULL GROUP BY v.value) AS g) AS different,
  (SELECT COUNT(*) FROM $values AS v WHERE CAST(v.value AS TEXT) = v.text) AS same;

-- name: printed_values
-- Give values as they print.
SELECT v.row, v.first, CAST(v.value AS TEXT) AS text FROM $values AS v;

-- name: matching_values
-- Find the data's own writings of values: a collation may hold several writings for one value.
SELECT v.row, CAST(t.value AS TEXT) AS text
FROM $values AS v
INNER JOIN (
  SELECT MIN($column) AS value FROM $tuples AS t GROUP BY MD5(CAST($column AS TEXT))
) AS t ON t.value = v.value;

-- name: doubled_values
-- Count the values that a mapping table holds more than once.
SELECT COUNT(*) AS twice
FROM (SELECT m.value FROM $mapping AS m WHERE m.value IS NOT NULL GROUP BY m.value HAVING COUNT(*) > 1) AS doubled;

-- name: level_labels
-- Number the labels of a level in the order in which they first appear, and count the values under each.
SELECT l.label, CAST(ROW_NUMBER() OVER (ORDER BY l.first) - 1 AS INTEGER) AS code, CAST(l.leaves AS INTEGER) AS leaves
FROM (
  SELECT $label AS label, MIN(v.code_0) AS first, COUNT(*) AS leaves FROM $labelled AS v GROUP BY $label
) AS l;

-- name: values_in_order
-- Number the distinct values of one quasi-identifier in their order, NULL left out: the codes of level 0.
SELECT v.value, CAST(ROW_NUMBER() OVER (ORDER BY v.value) - 1 AS INTEGER) AS code_0
FROM (SELECT $column AS value FROM $tuples AS t GROUP BY $column) AS v
WHERE v.value IS NOT NULL;

-- name: every_so_many
-- Take the values with every so many-th code, and the last, with what they become on each level.
SELECT $columns FROM $mapping AS m WHERE MOD(m.code_0, $step) = 0 OR m.code_0 = $last;

-- name: view_values
-- Read a view's mapping table so that a value has one code and a code shows one thing, whatever was written to it.
SELECT c.value, c.code, FIRST_VALUE(c.shown) OVER (PARTITION BY c.code ORDER BY c.shown) AS shown
FROM (SELECT m.value, m.code, $shown AS shown, COUNT(*) OVER (PARTITION BY m.value) AS copies FROM $mapping AS m) AS c
WHERE c.copies = 1 AND c.code >= 0;

-- name: mapping_codes
-- Take of a mapping table what does not depend on the column's type: the codes, and every value as text.
-- gives: value (text), the codes
SELECT CAST(m.value AS TEXT) AS value, $codes FROM $mapping AS m;

-- name: view_mapping
-- Keep what a released view needs of a mapping table: each value's code and label on the chosen level, but not NULL's.
-- gives: value, code, label (no label on level 0, where the value stays)
SELECT m.value, $columns FROM $mapping AS m WHERE m.value IS NOT NULL;
