-- name: refine/cells
-- Keep of the tuples' generalizations those that enough rows share.
-- reads: generalizations (id, n rows, key of the cell, cost of one row)
-- holes: $generalizations relation, $safe predicate
-- gives: id, n, key, cost
SELECT id, n, key, cost
FROM $generalizations
WHERE key IN (SELECT key FROM $generalizations GROUP BY key HAVING COALESCE($safe, FALSE))
