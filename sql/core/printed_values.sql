-- name: core/printed_values
-- Give values as they print.
-- reads: values (row, first, value)
-- holes: $values relation
-- gives: row, first, text
SELECT row, first, CAST(value AS TEXT) AS text FROM $values
