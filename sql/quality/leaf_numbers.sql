-- name: quality/leaf_numbers
-- Take the leaves of a column of numbers as numbers, each with the code of its label on one level.
-- reads: mapping (value, code_0 … code_h)
-- holes: $mapping relation, $label columns
-- gives: code_0, label, number
SELECT m.code_0, $label AS label, CAST(m.value AS DOUBLE) AS number FROM $mapping AS m
