-- name: population/node_test
-- Count the rows that one lattice node would leave in classes that do not meet the privacy model; a class of the population alone as one.
-- reads: frequency_set (one row per distinct tuple; n = rows, population = rows of the population; one integer column per attribute and level)
-- holes: $node value, $frequency_set relation, $levels columns, $safe predicate
-- gives: node, rows_at_risk
SELECT $node AS node, COALESCE(SUM(at_risk.size), 0) AS rows_at_risk
FROM (
  SELECT GREATEST(SUM(f.n), 1) AS size FROM $frequency_set AS f GROUP BY $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk
