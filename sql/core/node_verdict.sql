-- name: core/node_verdict
-- Count the rows that one lattice node would leave at risk, and those of them that every node below it leaves at risk too.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $node value, $frequency_set relation, $levels columns, $safe predicate, $monotone predicate, $unavoidable figure
-- gives: node, rows_at_risk, unavoidable (no more than rows_at_risk: all rows of a class that does not meet the monotone models)
SELECT
  $node AS node,
  COALESCE(SUM(at_risk.size), 0) AS rows_at_risk,
  COALESCE(SUM(at_risk.unavoidable), 0) AS unavoidable
FROM (
  SELECT
    SUM(f.n) AS size,
    CASE WHEN COALESCE($monotone, FALSE) THEN LEAST($unavoidable, SUM(f.n)) ELSE SUM(f.n) END AS unavoidable
  FROM $frequency_set AS f GROUP BY $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk
