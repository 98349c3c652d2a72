-- name: prioprivacy/rule_groups
-- Transform all remaining tuples alike, and list the members of the groups that meet the privacy model.
-- reads: frequency_set (tuple, n = rows, one integer column per attribute and level)
-- holes: $node value, $frequency_set relation, $levels columns, $safe predicate
-- gives: node, class (its first tuple's number), tuple
-- engines: duckdb
SELECT $node AS node, MIN(tuple) AS class, UNNEST(LIST(tuple)) AS tuple
FROM $frequency_set GROUP BY $levels HAVING COALESCE($safe, FALSE)
