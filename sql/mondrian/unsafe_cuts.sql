-- name: mondrian/unsafe_cuts
-- List the cuts that leave a new partition which does not meet the privacy model.
-- reads: moves (class, attribute, next_class), next (n, class, and what the model counts by)
-- holes: $moves relation, $next relation, $safe predicate
-- gives: class, attribute
-- engines: duckdb
SELECT DISTINCT m.class, m.attribute
FROM $moves AS m
WHERE m.next_class IN (SELECT x.class FROM $next AS x GROUP BY x.class HAVING NOT COALESCE($safe, FALSE))
