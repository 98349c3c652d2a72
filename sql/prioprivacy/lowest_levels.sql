-- name: prioprivacy/lowest_levels
-- Find the lowest levels on which all tuples of a class are equal.
-- reads: common (class, attribute, level, and anything else)
-- holes: $common relation
-- gives: class, attribute, level
-- engines: duckdb
SELECT k.class, k.attribute, MIN(k.level) AS level
FROM $common AS k
GROUP BY k.class, k.attribute
ORDER BY class, attribute
