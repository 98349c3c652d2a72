-- name: attack/held_values
-- List the values that each person has in each class, once; rows of nobody are left out.
-- reads: release (a copy of a release, with a column that tells people apart)
-- holes: $release relation, $columns columns, $unit columns
-- gives: row_id (of the first such row), the columns (labels and value), person
SELECT MIN(h.row_id) AS row_id, $columns, h.person
FROM (SELECT r.row_id, $columns, $unit AS person FROM $release AS r) AS h
WHERE h.person IS NOT NULL
GROUP BY $columns, h.person
