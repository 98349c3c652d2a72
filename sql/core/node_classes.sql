-- name: core/node_classes
-- Describe the equivalence classes that one node would release.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $node value, $frequency_set relation, $levels columns, $safe predicate
-- gives: node, classes, released_rows, smallest_class (NULL without classes), squares (sum of squared class sizes)
SELECT
  $node AS node,
  COUNT(*) AS classes,
  COALESCE(SUM(n), 0) AS released_rows,
  MIN(n) AS smallest_class,
  COALESCE(SUM(n * n), 0) AS squares
FROM (SELECT SUM(n) AS n FROM $frequency_set GROUP BY $levels HAVING COALESCE($safe, FALSE)) AS released
