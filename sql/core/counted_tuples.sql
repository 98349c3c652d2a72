-- name: core/counted_tuples
-- Add up the rows behind every distinct combination of values in a table of tuples that were counted elsewhere.
-- reads: source (tuples, each with the rows that it stands for)
-- holes: $columns columns, $rows columns, $source relation
-- gives: the columns, n (rows)
SELECT $columns, CAST(SUM($rows) AS BIGINT) AS n FROM $source AS s GROUP BY $columns
