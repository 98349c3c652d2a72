-- name: mondrian/nodes
-- List the nodes above every value of one attribute on one level of its hierarchy, with the positions under them.
-- reads: positions (an attribute's order: position, codes, leaves)
-- holes: $attribute value, $level value, $count value, $code columns, $leaves columns, $positions relation
-- gives: attribute, position, level, node, low, high (positions under the node), leaves (under the node), width (leaves of all, 0 for one)
-- engines: duckdb
SELECT
  $attribute AS attribute, position, $level AS level, node,
  MIN(position) OVER (PARTITION BY node) AS low, MAX(position) OVER (PARTITION BY node) AS high,
  leaves,
  CASE WHEN leaves > 1 THEN CAST(leaves AS DOUBLE PRECISION) / $count ELSE 0 END AS width
FROM (SELECT position, $code AS node, $leaves AS leaves FROM $positions) AS labelled
