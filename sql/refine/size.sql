-- name: refine/size
-- Count the classes of a state and the rows that are in them.
-- reads: state (id, n rows, class)
-- holes: $state relation
-- gives: classes, rows
SELECT COUNT(DISTINCT s.class) AS classes, COALESCE(SUM(s.n), 0) AS rows FROM $state AS s
