-- name: cloak/identifying
-- Count the released rows whose value in a column is that of one unit alone, and so tells its rows from all others.
-- reads: released (unit, the column)
-- holes: $column columns, $released relation
-- gives: rows
-- engines: duckdb
SELECT COALESCE(SUM(rows), 0) AS rows
FROM (SELECT $column, COUNT(*) AS rows, COUNT(DISTINCT unit) AS units FROM $released GROUP BY $column) AS counted
WHERE units = 1
