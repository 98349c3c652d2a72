-- name: cloak/open_round
-- Settle a level of the published form: a safe quadrant still passes its units on to the quadrants above.
-- reads: nodes (node, rows, safe)
-- holes: $nodes relation
-- gives: node, rows, taken (never)
-- engines: duckdb
SELECT node, rows, FALSE AS taken FROM $nodes
