-- name: attack/links_by_unit
-- Link targets with their rows of the source, by the column that tells people apart.
-- reads: targets (target: a row's number), people (the copy that they come from), source (a copy of the source)
-- holes: $targets relation, $people relation, $source relation, $unit columns
-- gives: target, row_id (of the source)
SELECT t.target, s.row_id
FROM $targets AS t
JOIN (SELECT q.row_id, $unit AS unit FROM $people AS q) AS p ON p.row_id = t.target
JOIN (SELECT r.row_id, $unit AS unit FROM $source AS r) AS s ON s.unit = p.unit
