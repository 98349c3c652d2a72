-- name: attack/unplaced
-- Begin with all rows at one home: nothing of them has been looked at.
-- reads: copied (a copy of a table)
-- holes: $copied relation
-- gives: row_id, home
SELECT r.row_id, '' AS home FROM $copied AS r
