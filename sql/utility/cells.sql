-- name: utility/cells
-- Count the rows of a column's cells.
-- reads: copied (a copy of a table, as text)
-- holes: $copied relation, $cell columns
-- gives: cell, n
SELECT $cell AS cell, COUNT(*) AS n FROM $copied AS s GROUP BY $cell
