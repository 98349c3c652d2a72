-- name: attack/candidates
-- Count for each target that fits any class how many fit, and their rows: the records that may be the target's.
-- reads: fits (target, class), classes (class, the labels, n)
-- holes: $fits relation, $classes relation
-- gives: target, classes, records
SELECT f.target, COUNT(*) AS classes, SUM(k.n) AS records
FROM $fits AS f JOIN $classes AS k ON k.class = f.class
GROUP BY f.target
