-- name: core/equal_values
-- Give for every value the row in which an equal one came first, by the equality of its own type and collation.
-- reads: values (row, value)
-- holes: $values relation
-- gives: row, first, value
SELECT v.row, MIN(v.row) OVER (PARTITION BY v.value) AS first, v.value FROM $values AS v
