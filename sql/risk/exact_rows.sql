-- name: risk/exact_rows
-- Count the rows that are the only ones with their values in some columns.
-- reads: source (the raw table, any shape)
-- holes: $columns columns, $source relation
-- gives: singled_out (rows), counted (all rows)
SELECT COUNT(*) FILTER (WHERE classes.n = 1) AS singled_out, SUM(classes.n) AS counted
FROM (SELECT COUNT(*) AS n FROM $source AS s GROUP BY $columns) AS classes
