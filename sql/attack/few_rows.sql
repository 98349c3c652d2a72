-- name: attack/few_rows
-- Count the rows whose labels, some of them, fewer than k rows have.
-- reads: classes (class, the labels, n)
-- holes: $classes relation, $known columns, $k value
-- gives: rows
SELECT COALESCE(SUM(groups.size), 0) AS rows
FROM (SELECT SUM(c.n) AS size FROM $classes AS c GROUP BY $known) AS groups
WHERE groups.size < $k
