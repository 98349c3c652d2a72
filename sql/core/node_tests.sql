-- name: core/node_tests
-- Count the rows that several lattice nodes would leave in classes that do not meet the privacy model, all by one grouping.
-- reads: frequency_set (each row once per node, with the node's number and what tells its classes apart; n = rows)
-- holes: $frequency_set relation, $levels columns, $safe predicate
-- gives: node, rows_at_risk (more than 0: no row of a node that leaves none)
SELECT at_risk.node AS node, SUM(at_risk.size) AS rows_at_risk
FROM (
  SELECT f.node AS node, SUM(f.n) AS size FROM $frequency_set AS f GROUP BY f.node, $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk
GROUP BY at_risk.node
