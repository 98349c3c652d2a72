-- name: attack/owned
-- Count the records of a target that fit it: its rows of the source that may stand in a class which fits the target.
-- reads: links (target, row_id), fits (target, class), own_fits (target: a row of the source, class)
-- holes: $links relation, $fits relation, $own_fits relation
-- gives: target, records
SELECT l.target, COUNT(DISTINCT l.row_id) AS records
FROM $links AS l
JOIN $own_fits AS o ON o.target = l.row_id
JOIN $fits AS f ON f.target = l.target AND f.class = o.class
GROUP BY l.target
