-- name: reading/digits
-- Measure the numbers of a column of text: the most digits before the decimal mark, and the most behind it.
-- reads: source (the rows of a file)
-- holes: $column columns, $source relation, $missing predicate, $behind value
-- gives: whole, fraction
-- engines: duckdb
SELECT
  COALESCE(MAX(LENGTH(REGEXP_REPLACE(l.value, '[^0-9]', '', 'g')) - LENGTH(REGEXP_EXTRACT(l.value, $behind, 1))), 0)
  AS whole,
  COALESCE(MAX(LENGTH(REGEXP_EXTRACT(l.value, $behind, 1))), 0) AS fraction
FROM (SELECT $column AS value FROM $source AS s) AS l
WHERE l.value IS NOT NULL AND NOT COALESCE($missing, FALSE)
