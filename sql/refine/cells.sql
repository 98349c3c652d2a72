-- name: refine/cells
-- Keep of the tuples' generalizations those that enough rows share.
-- reads: generalizations (id, n rows, key of the cell, cost of one row), counted (key, n, what the model counts by; or the same relation)
-- holes: $generalizations relation, $counted relation, $safe predicate
-- gives: id, n, key, cost
SELECT g.id, g.n, g.key, g.cost
FROM $generalizations AS g
WHERE g.key IN (SELECT g.key FROM $counted AS g GROUP BY g.key HAVING COALESCE($safe, FALSE))
