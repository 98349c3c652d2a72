-- name: cloak/widest
-- Find the largest tolerances: no two rows are neighbours across more than one cell of that width.
-- reads: points (dx, dy, dt)
-- holes: $points relation
-- gives: x, y, t
-- engines: duckdb
SELECT MAX(dx) AS x, MAX(dy) AS y, MAX(dt) AS t FROM $points
