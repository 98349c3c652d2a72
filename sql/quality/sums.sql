-- name: quality/sums
-- Add up the cells of one attribute by level.
-- reads: levels (value, level, leaves, n)
-- holes: $levels relation
-- gives: level, n (rows), leaves (under the labels, one per row)
SELECT level, CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(leaves * n) AS BIGINT) AS leaves
FROM $levels
GROUP BY level
ORDER BY level
