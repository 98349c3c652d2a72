-- name: cloak/points
-- Number the units, and leave out the rows without a place, a time or a unit.
-- reads: points (one row per row of the source: row, x, y, t, unit, and what else is asked for)
-- holes: $points relation, $columns columns
-- gives: row, unit (from 1), the columns
-- engines: duckdb
SELECT p.row, u.number AS unit, $columns
FROM $points AS p
JOIN (
  SELECT unit, CAST(ROW_NUMBER() OVER (ORDER BY unit) AS INTEGER) AS number
  FROM (SELECT DISTINCT unit FROM $points) AS found
) AS u ON p.unit = u.unit
WHERE COALESCE(ISFINITE(p.x) AND ISFINITE(p.y) AND ISFINITE(p.t), FALSE)
