-- name: utility/tuples
-- Count the distinct tuples of cells; `nothing` stands where a query asks of fewer columns than others.
-- reads: copied (a copy of a table, as text)
-- holes: $copied relation, $cells columns
-- gives: the cells, nothing, n
SELECT $cells, 0 AS nothing, COUNT(*) AS n FROM $copied AS s GROUP BY $cells
