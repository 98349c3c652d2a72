-- name: core/node_classes
-- Describe the equivalence classes that one node would release.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $node value, $frequency_set relation, $levels columns, $safe predicate
-- gives: node, classes, released_rows, smallest_class (NULL without classes), squares (sum of squared class sizes)
SELECT
  $node AS node,
  COUNT(*) AS classes,
  COALESCE(SUM(released.size), 0) AS released_rows,
  MIN(released.size) AS smallest_class,
  COALESCE(SUM(released.size * released.size), 0) AS squares
FROM (SELECT SUM(f.n) AS size FROM $frequency_set AS f GROUP BY $levels HAVING COALESCE($safe, FALSE)) AS released
