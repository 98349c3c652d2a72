-- name: attack/shared_rows
-- Count the rows of a control whose key people have too.
-- reads: control (id, key), people (id, key)
-- holes: $control relation, $people relation
-- gives: rows
SELECT COUNT(*) AS rows FROM $control AS c WHERE c.key IN (SELECT p.key FROM $people AS p)
