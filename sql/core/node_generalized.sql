-- name: core/node_generalized
-- Count, of the rows at risk of one node, those whose label stands for several leaves.
-- reads: frequency_set (and its columns of loss: n times (leaves under the label - 1))
-- holes: $node value, $frequency_set relation, $levels columns, $losses columns, $safe predicate
-- gives: node, rows_at_risk, one count per loss column
SELECT
  $node AS node, COALESCE(SUM(at_risk.size), 0) AS rows_at_risk,
  COALESCE(SUM(CASE WHEN $losses > 0 THEN at_risk.size END), 0)
FROM (
  SELECT SUM(f.n) AS size, SUM($losses)
  FROM $frequency_set AS f GROUP BY $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk
