-- name: prioprivacy/rule_values
-- List the values of one quasi-identifier as text, by their codes.
-- reads: mapping (value, code_0 … code_h)
-- holes: $mapping relation
-- gives: code, label (NULL for NULL)
-- engines: duckdb
SELECT code_0 AS code, MIN(CAST(value AS TEXT)) AS label FROM $mapping GROUP BY code_0
