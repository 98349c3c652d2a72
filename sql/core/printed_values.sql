-- name: core/printed_values
-- Give values as they print.
-- reads: values (row, first, value)
-- holes: $values relation
-- gives: row, first, text
SELECT v.row, v.first, CAST(v.value AS TEXT) AS text FROM $values AS v
