-- name: kaca/generalized
-- Find the closest common generalization of the classes that become one: a code stays where all have it.
-- reads: classes (class, codes), links (class, goes_to)
-- holes: $classes relation, $links relation, $codes columns
-- gives: class, the codes, -1 where the class is generalized above
-- engines: duckdb
SELECT l.goes_to AS class, CASE WHEN MIN($codes) = MAX($codes) THEN MIN($codes) ELSE -1 END
FROM $classes AS c
JOIN $links AS l ON l.class = c.class
GROUP BY l.goes_to
