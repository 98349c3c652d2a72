-- name: refine/cost
-- Add up what the classes of a state cost.
-- reads: classes (n rows, cost of one row)
-- holes: $classes relation
-- gives: rows, cost (of all rows)
SELECT COALESCE(SUM(k.n), 0) AS rows, COALESCE(SUM(k.n * k.cost), 0) AS cost FROM $classes AS k
