-- Hierarchies as mapping tables: one row per value, with its code on every level.

-- name: column_values
-- List the distinct values of one quasi-identifier, with their row counts.
-- columns: value, n (rows)
SELECT $column AS value, CAST(SUM(t.n) AS BIGINT) AS n FROM $tuples AS t GROUP BY $column;

-- name: column_texts
-- List the distinct values of one quasi-identifier as text, with their row counts.
-- columns: value (text), n (rows)
SELECT CAST($column AS TEXT) AS value, CAST(SUM(t.n) AS BIGINT) AS n FROM $tuples AS t GROUP BY $column;

-- name: equal_values
-- Find, for every value, the first row with an equal value, by the equality of the column's type and collation.
SELECT v.row, MIN(v.row) OVER (PARTITION BY v.value) AS first, v.value FROM $values AS v;

-- name: in_one_writing
-- Return a column of a relation as text, with all spellings of a value replaced by the first of them.
SELECT
  COALESCE((SELECT MIN(w._first) FROM $writings AS w WHERE w._text = CAST($column AS TEXT)), CAST($column AS TEXT)),
  $columns
FROM $relation AS r;

-- name: settled_values
-- Count the values that a column's type can represent, the distinct ones among them, and those that print as they were written.
SELECT
  (SELECT COUNT(*) FROM $values AS v WHERE v.value IS NOT NULL) AS held,
  (SELECT COUNT(*) FROM (SELECT v.value FROM $values AS v WHERE v.value IS NOT NULL GROUP BY v.value) AS g) AS different,
  (SELECT COUNT(*) FROM $values AS v WHERE CAST(v.value AS TEXT) = v.text) AS same;

-- name: printed_values
-- Return values as the text that they print as.
SELECT v.row, v.first, CAST(v.value AS TEXT) AS text FROM $values AS v;

-- name: matching_values
-- Find how the data spells given values: a collation may treat several spellings as one value.
SELECT v.row, CAST(t.value AS TEXT) AS text
FROM $values AS v
INNER JOIN (
  SELECT MIN($column) AS value FROM $tuples AS t GROUP BY MD5(CAST($column AS TEXT))
) AS t ON t.value = v.value;

-- name: doubled_values
-- Count the values that occur more than once in a mapping table.
SELECT COUNT(*) AS twice
FROM (SELECT m.value FROM $mapping AS m WHERE m.value IS NOT NULL GROUP BY m.value HAVING COUNT(*) > 1) AS doubled;

-- name: level_labels
-- Number the labels of a level in the order of their first values, and count the values under each.
SELECT l.label, CAST(ROW_NUMBER() OVER (ORDER BY l.first) - 1 AS INTEGER) AS code, CAST(l.leaves AS INTEGER) AS leaves
FROM (
  SELECT $label AS label, MIN(v.code_0) AS first, COUNT(*) AS leaves FROM $labelled AS v GROUP BY $label
) AS l;

-- name: values_in_order
-- Number the distinct values of one quasi-identifier in their order, without NULL: the codes of level 0.
SELECT v.value, CAST(ROW_NUMBER() OVER (ORDER BY v.value) - 1 AS INTEGER) AS code_0
FROM (SELECT $column AS value FROM $tuples AS t GROUP BY $column) AS v
WHERE v.value IS NOT NULL;

-- name: every_so_many
-- Return the values whose code is a multiple of a step, and the last value, with their labels on every level.
SELECT $columns FROM $mapping AS m WHERE MOD(m.code_0, $step) = 0 OR m.code_0 = $last;

-- name: view_labels
-- Return one label of every code in a view's mapping table, whatever was written to the table.
SELECT l.code, l.shown
FROM (SELECT m.code, $shown AS shown, ROW_NUMBER() OVER (PARTITION BY m.code ORDER BY $shown) AS place FROM $mapping AS m) AS l
WHERE l.place = 1;

-- name: mapping_codes
-- Return the columns of a mapping table that do not depend on the column's type: the codes and losses, and every value as text.
-- columns: value (text), the codes and losses
SELECT CAST(m.value AS TEXT) AS value, $codes FROM $mapping AS m;

-- name: first_positions
-- Find the first position of every label of one level.
-- columns: code, first
SELECT $code AS code, MIN($position) AS first FROM $mapping AS m GROUP BY $code;

-- name: view_mapping
-- Return what a released view needs of a mapping table: the code and label of every value on the chosen level, without NULL.
-- columns: value, code, label (no label on level 0, where the value is unchanged)
SELECT m.value, $columns FROM $mapping AS m WHERE m.value IS NOT NULL;
