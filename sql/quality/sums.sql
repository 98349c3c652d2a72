-- name: quality/sums
-- Add up the cells of one attribute by level.
-- reads: levels (value, level, leaves, n)
-- holes: $levels relation
-- gives: level, n (rows), leaves (under the labels, one per row)
SELECT l.level, CAST(SUM(l.n) AS BIGINT) AS n, CAST(SUM(l.leaves * l.n) AS BIGINT) AS leaves
FROM $levels AS l
GROUP BY l.level
ORDER BY level
