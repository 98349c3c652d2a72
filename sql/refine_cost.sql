-- name: refine_cost
-- Add up what the classes of a state cost.
-- reads: classes (n rows, tuples, cost of one row)
-- holes: $classes relation
-- gives: classes, tuples, rows, cost (of all rows)
SELECT
  COUNT(*) AS classes,
  COALESCE(SUM(tuples), 0) AS tuples,
  COALESCE(SUM(n), 0) AS rows,
  COALESCE(SUM(n * cost), 0) AS cost
FROM $classes
