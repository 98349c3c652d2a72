-- name: privacy/unknown_units
-- Count the rows of which nobody knows whose they are.
-- reads: source (the raw table, any shape)
-- holes: $source relation, $unit columns
-- gives: rows
SELECT COUNT(*) - COUNT($unit) AS rows FROM $source AS s
