-- name: mondrian/counted
-- Count the rows of every value of one attribute in every open partition.
-- reads: open (level-0 columns, n = rows, class)
-- holes: $attribute value, $code columns, $open relation
-- gives: class, attribute, code, n
-- engines: duckdb
SELECT class, $attribute AS attribute, $code AS code, CAST(SUM(n) AS BIGINT) AS n FROM $open GROUP BY class, $code
