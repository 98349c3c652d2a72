-- Evidence of a release: the labels of its source tuples, which verification compares with the source again.

-- name: evidence_rows
-- Number the rows of a table, overall and within their tuples, in the order by which tuples are split: by the counted columns.
SELECT
  $columns,
  ROW_NUMBER() OVER (ORDER BY $values, $order) AS number,
  ROW_NUMBER() OVER (PARTITION BY $values ORDER BY $order) AS place
FROM $source AS s;

-- name: evidence_numbered
-- Number the rows of the evidence.
SELECT $columns, ROW_NUMBER() OVER (ORDER BY $columns) AS number FROM $evidence AS e;

-- name: evidence_tuples
-- Number the tuples of a table and of the evidence together; equal values get the same number however they are written.
-- columns: of_table (1, or 0 for the evidence), number (of a row), tuple
SELECT listed.of_table, listed.number, DENSE_RANK() OVER (ORDER BY $values) AS tuple
FROM (
  SELECT 1 AS of_table, r.number, $values FROM $rows AS r
  UNION ALL
  SELECT 0 AS of_table, e.number, $values FROM $evidence AS e
) AS listed;

-- name: evidence_shown_parts
-- Show the rows of a table with the labels that the evidence has for the part of a tuple that they are in.
SELECT r.number, $shown, $counted
FROM $rows AS r
JOIN $tuples AS own ON own.of_table = 1 AND own.number = r.number
JOIN $tuples AS other ON other.of_table = 0 AND other.tuple = own.tuple
JOIN $evidence AS e ON e.number = other.number
WHERE r.place BETWEEN e.first AND e.last;

-- name: evidence_shown_whole
-- Show the rows of a table with the labels that the evidence has for their tuples.
SELECT r.number, $shown, $counted
FROM $rows AS r
JOIN $tuples AS own ON own.of_table = 1 AND own.number = r.number
JOIN $tuples AS other ON other.of_table = 0 AND other.tuple = own.tuple
JOIN $evidence AS e ON e.number = other.number;

-- name: evidence_repeated
-- Count the rows that the evidence shows more than once.
SELECT COUNT(*) - COUNT(DISTINCT s.number) AS repeated FROM $shown AS s;

-- name: evidence_population
-- Count the rows or people of a population by the labels that the evidence has for them.
SELECT $names, COUNT(DISTINCT $counted) AS kanon_population FROM $shown AS s GROUP BY $labels;

-- name: evidence_labels
-- List the distinct values of a quasi-identifier in the evidence, with their texts and labels.
SELECT DISTINCT $value AS value, CAST($value AS TEXT) AS text, CAST($label AS TEXT) AS label FROM $evidence AS e;

-- name: evidence_values
-- Look up the values of an attribute for the tuples of a local recoding in the mapping table; NULL if it has none.
SELECT $columns, $value
FROM (SELECT $columns, $key AS tuple_code FROM $tuples AS t) AS coded
LEFT JOIN (
  SELECT m.value AS found, m.code_0 AS found_code FROM $mapping AS m WHERE m.value IS NOT NULL
) AS mapped ON mapped.found_code = coded.tuple_code;

-- name: evidence
-- Return the labels of every source tuple; for a split tuple, the labels of each range of its rows.
SELECT $values, $places, $names
FROM (SELECT $values, $places, t.class AS tuple_class FROM $tuples AS t) AS valued
JOIN (SELECT k.class AS shown_class, $shown FROM $classes AS k) AS labelled ON labelled.shown_class = valued.tuple_class;
