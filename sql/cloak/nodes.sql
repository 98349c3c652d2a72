-- name: cloak/nodes
-- Judge every quadrant of a level by the units that wait in it.
-- reads: waiting (node, unit, n = 1, rows)
-- holes: $waiting relation, $safe predicate
-- gives: node, rows, safe
-- engines: duckdb
SELECT node, CAST(SUM(rows) AS BIGINT) AS rows, COALESCE($safe, FALSE) AS safe FROM $waiting GROUP BY node
