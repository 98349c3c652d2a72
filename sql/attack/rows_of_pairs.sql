-- name: attack/rows_of_pairs
-- Take the rows of a table that stand in pairs, on one side of them.
-- reads: copied (a copy of a table), pairs (way, row_id, other)
-- holes: $copied relation, $pairs relation, $side columns, $columns columns
-- gives: row_id, the columns
SELECT r.row_id, $columns
FROM $copied AS r
JOIN (SELECT DISTINCT $side AS side FROM $pairs AS p) AS taken ON taken.side = r.row_id
