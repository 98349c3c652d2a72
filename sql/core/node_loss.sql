-- name: core/node_loss
-- Add up, over the rows at risk of one node, the loss that suppressing them replaces by total loss.
-- reads: frequency_set (and its columns of loss: n times (leaves under the label - 1))
-- holes: $node value, $frequency_set relation, $levels columns, $losses columns, $safe predicate
-- gives: node, rows_at_risk, one sum per loss column
SELECT $node AS node, COALESCE(SUM(at_risk.size), 0) AS rows_at_risk, COALESCE(SUM($losses), 0)
FROM (
  SELECT SUM(f.n) AS size, SUM($losses)
  FROM $frequency_set AS f GROUP BY $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk
