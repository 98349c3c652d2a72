-- name: profile/fractions
-- Count the rows whose number is not whole, to tell a measure from an integer in a float or decimal column.
-- reads: source (the raw table, any shape)
-- holes: $column columns, $source relation
-- gives: fractions (rows)
SELECT COUNT(*) AS fractions FROM (SELECT $column AS value FROM $source AS s) AS c WHERE c.value <> FLOOR(c.value)
