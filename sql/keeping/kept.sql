-- name: keeping/kept
-- List the classes all of whose tuples were in one region that holds.
-- reads: assigned (one row per tuple: class, n = rows, region = NULL for none)
-- holes: $assigned relation
-- gives: class, region, size (rows)
SELECT a.class, MIN(a.region) AS region, SUM(a.n) AS size
FROM $assigned AS a
GROUP BY a.class
HAVING MIN(a.region) = MAX(a.region) AND COUNT(a.region) = COUNT(*)
