-- The cells of a release and of its source.

-- name: texts
-- Select the cells of a table as text.
SELECT CAST($cells AS TEXT) FROM $table AS s;

-- name: cells
-- Count the rows of each cell of a column, as text.
SELECT CAST($cell AS TEXT) AS cell, COUNT(*) AS n FROM $table AS s GROUP BY CAST($cell AS TEXT);
