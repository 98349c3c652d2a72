-- name: kaca/candidates
-- Find the blocks that may hold a class as near as the best one known.
-- reads: seekers (class, n, block), bounds (class, bound), pairs (block, other, shared, rise, other_rise)
-- holes: $seekers relation, $bounds relation, $pairs relation
-- gives: class, other (block), shared, bound
-- engines: duckdb
SELECT a.class, p.other, p.shared, u.bound
FROM $seekers AS a
JOIN $bounds AS u ON u.class = a.class
JOIN $pairs AS p ON p.block = a.block AND a.n * p.rise + p.other_rise <= u.bound
