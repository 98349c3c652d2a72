-- name: privacy/written_values
-- List the values of a sensitive column in every way that they are written, with one number for equal ones.
-- reads: source (the raw table, any shape)
-- holes: $source relation, $value columns
-- gives: code (equal for equal values), value
SELECT DENSE_RANK() OVER (ORDER BY v.value) AS code, v.value AS value
FROM (SELECT $value AS value FROM $source AS s GROUP BY $value, MD5(CAST($value AS TEXT))) AS v
