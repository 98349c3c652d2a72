-- name: attack/everybody
-- Take all rows of a table as targets.
-- reads: copied (a copy of a table)
-- holes: $copied relation, $columns columns
-- gives: target (the row's number), the columns
SELECT r.row_id AS target, $columns FROM $copied AS r
