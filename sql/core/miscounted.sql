-- name: core/miscounted
-- Count the tuples, counted elsewhere, that do not stand for one row at least.
-- reads: source (tuples, each with the rows that it stands for)
-- holes: $rows columns, $source relation
-- gives: tuples
SELECT COUNT(*) AS tuples FROM (SELECT $rows AS n FROM $source AS s) AS counted WHERE COALESCE(counted.n, 0) < 1
