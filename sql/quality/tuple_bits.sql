-- name: quality/tuple_bits
-- Add up n * ln(n) over the distinct tuples of the source, n rows each.
-- reads: frequency_set (n = rows, and a column of codes per attribute)
-- holes: $frequency_set relation, $keys columns
-- gives: bits
SELECT COALESCE(SUM(held.n * LN(held.n)), 0) AS bits
FROM (SELECT CAST(SUM(f.n) AS DOUBLE) AS n FROM $frequency_set AS f WHERE f.n > 0 GROUP BY $keys) AS held
