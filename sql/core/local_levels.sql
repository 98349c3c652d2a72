-- name: core/local_levels
-- Count the rows whose cell of one attribute needs each level of its hierarchy.
-- reads: classes (class, n = rows, level_j per attribute)
-- holes: $classes relation, $level columns
-- gives: level, n (rows)
SELECT $level AS level, SUM(k.n) AS n FROM $classes AS k GROUP BY $level
