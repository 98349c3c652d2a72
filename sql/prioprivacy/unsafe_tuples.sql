-- name: prioprivacy/unsafe_tuples
-- Keep the distinct tuples that do not meet the privacy model as they are.
-- reads: tuples (tuple, n, and anything else)
-- holes: $tuples relation, $safe predicate
-- gives: the same columns
-- engines: duckdb
SELECT *
FROM $tuples
WHERE tuple IN (SELECT tuple FROM $tuples GROUP BY tuple HAVING NOT COALESCE($safe, FALSE))
