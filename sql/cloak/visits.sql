-- name: cloak/visits
-- List who was in which cell when, and number the instants of every cell; no window is open yet.
-- reads: cells (row, unit, x_cell, y_cell), points (row, t)
-- holes: $cells relation, $points relation
-- gives: x_cell, y_cell, unit, t, instant (from 1), width (-1)
-- engines: duckdb
SELECT
  x_cell, y_cell, unit, t,
  DENSE_RANK() OVER (PARTITION BY x_cell, y_cell ORDER BY t) AS instant,
  CAST(-1 AS BIGINT) AS width
FROM (
  SELECT DISTINCT c.x_cell, c.y_cell, c.unit, p.t FROM $cells AS c JOIN $points AS p ON c.row = p.row
) AS seen
