-- name: attack/ranked_pairs
-- Pair the rows of two tables that come to the same of some places when each is sorted by its columns.
-- reads: drawn (row_id: a place), copied (a copy of a table), other (a copy of another)
-- holes: $drawn relation, $copied relation, $other relation, $columns columns, $columns_there columns
-- gives: way (sorted), row_id, other
SELECT 'sorted' AS way, a.row_id, b.row_id AS other
FROM (SELECT r.row_id, ROW_NUMBER() OVER (ORDER BY $columns) AS place FROM $copied AS r) AS a
JOIN (SELECT r.row_id, ROW_NUMBER() OVER (ORDER BY $columns_there) AS place FROM $other AS r) AS b ON b.place = a.place
JOIN $drawn AS d ON d.row_id = a.place
