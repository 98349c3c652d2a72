-- name: prioprivacy/suppressible
-- Hide the same cells of all tuples, and list the open ones whose pattern fits enough original rows.
-- reads: frequency_set (tuple, n = rows, open, one integer column per attribute)
-- holes: $node value, $frequency_set relation, $levels columns, $safe predicate
-- gives: node, n (original rows that the pattern fits), others (distinct tuples among them but the own), tuple
-- engines: duckdb
SELECT $node AS node, SUM(n) AS n, COUNT(*) - 1 AS others, UNNEST(LIST(tuple) FILTER (WHERE open)) AS tuple
FROM $frequency_set GROUP BY $levels HAVING COALESCE($safe, FALSE)
