-- name: reading/line_breaks
-- Count the ends of lines inside a column's values above a row, which set it lower in its file than its number says.
-- reads: source (the rows of a file, in its order)
-- holes: $column columns, $source relation, $row value
-- gives: line_breaks
-- engines: duckdb
SELECT COALESCE(SUM(LENGTH(l.value) - LENGTH(REPLACE(l.value, CHR(10), ''))), 0) AS line_breaks
FROM (SELECT $column AS value, ROW_NUMBER() OVER () AS place FROM $source AS s) AS l
WHERE l.place < $row
