-- name: cloak/open_round
-- Settle a level of the published form: a quadrant that is safe keeps its units for the quadrants above all the same.
-- reads: nodes (node, rows, safe)
-- holes: $nodes relation
-- gives: node, rows, taken (never)
-- engines: duckdb
SELECT node, rows, FALSE AS taken FROM $nodes
