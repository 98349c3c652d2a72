-- name: cloak/identifying
-- Count the released rows whose value in a column belongs to one unit alone, and so identifies the unit's rows.
-- reads: released (unit, the column)
-- holes: $column columns, $released relation
-- gives: rows
-- engines: duckdb
SELECT COALESCE(SUM(rows), 0) AS rows
FROM (SELECT $column, COUNT(*) AS rows FROM $released GROUP BY $column HAVING MIN(unit) = MAX(unit)) AS counted
