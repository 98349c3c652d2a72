-- name: core/node_losses
-- Add up, over the rows at risk of several lattice nodes, the loss that suppressing them replaces by total loss.
-- reads: frequency_set (each row once per node, with the node's number, what tells its classes apart and columns of loss; n = rows)
-- holes: $frequency_set relation, $levels columns, $losses columns, $safe predicate
-- gives: node, rows_at_risk (more than 0: no row of a node that leaves none), one sum per loss column
SELECT c.node AS node, SUM(c.n) AS rows_at_risk, SUM($losses)
FROM $frequency_set AS c
WHERE (c.node, $levels) IN (
  SELECT f.node, $levels FROM $frequency_set AS f GROUP BY f.node, $levels HAVING NOT COALESCE($safe, FALSE)
)
GROUP BY c.node
