-- name: cloak/round
-- Settle a level: a quadrant is taken if its waiting units are safe, or a class was pulled up to them.
-- reads: nodes (node, rows, safe), pulls (node, class_level, class_node)
-- holes: $nodes relation, $pulls relation
-- gives: node, rows, taken
-- engines: duckdb
SELECT n.node, n.rows, n.safe OR NOT p.node IS NULL AS taken
FROM $nodes AS n LEFT JOIN $pulls AS p ON n.node = p.node
