-- name: prioprivacy/unsafe_tuples
-- Keep the distinct tuples that do not meet the privacy model as they are.
-- reads: tuples (tuple, and anything else), counted (tuple, n, and what the model counts by)
-- holes: $tuples relation, $counted relation, $safe predicate
-- gives: the columns of tuples
-- engines: duckdb
SELECT *
FROM $tuples
WHERE tuple IN (SELECT tuple FROM $counted GROUP BY tuple HAVING NOT COALESCE($safe, FALSE))
