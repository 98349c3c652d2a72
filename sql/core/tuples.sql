-- name: core/tuples
-- Count the rows behind every distinct combination of raw quasi-identifier values: the one scan of the data.
-- reads: source (the raw table, any shape)
-- holes: $columns columns, $source relation
-- gives: the columns, n (rows)
SELECT $columns, COUNT(*) AS n FROM $source AS s GROUP BY $columns
