-- name: kaca/fused
-- Put the parts of tuples into the classes that theirs are now.
-- reads: parts (tuple, class, n), same (class, one: the class that it is now)
-- holes: $parts relation, $same relation
-- gives: tuple, class, n
-- engines: duckdb
SELECT p.tuple, s.one AS class, CAST(SUM(p.n) AS BIGINT) AS n
FROM $parts AS p
JOIN $same AS s ON s.class = p.class
GROUP BY p.tuple, s.one
