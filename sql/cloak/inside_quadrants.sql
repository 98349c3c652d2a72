-- name: cloak/inside_quadrants
-- Count the units inside every released quadrant and slice, whichever box they are released with, and give the fewest.
-- reads: keys (row, unit, x_cell, y_cell, t_cell), boxes (row, x_min, x_max)
-- holes: $keys relation, $boxes relation, $x_width value
-- gives: smallest (units)
-- engines: duckdb
SELECT MIN(units) AS smallest
FROM (
  SELECT c.cells, c.x, c.y, c.t_cell, COUNT(DISTINCT k.unit) AS units
  FROM (
    SELECT DISTINCT cells, x_cell // cells AS x, y_cell // cells AS y, t_cell
    FROM (
      SELECT k.x_cell, k.y_cell, k.t_cell, CAST((b.x_max - b.x_min) / CAST($x_width AS DOUBLE) AS BIGINT) AS cells
      FROM $boxes AS b JOIN $keys AS k ON b.row = k.row
    ) AS sized
  ) AS c
  JOIN (
    SELECT DISTINCT s.cells, k.x_cell // s.cells AS x, k.y_cell // s.cells AS y, k.t_cell, k.unit
    FROM $keys AS k
    CROSS JOIN (
      SELECT DISTINCT CAST((x_max - x_min) / CAST($x_width AS DOUBLE) AS BIGINT) AS cells FROM $boxes
    ) AS s
  ) AS k ON c.cells = k.cells AND c.x = k.x AND c.y = k.y AND c.t_cell = k.t_cell
  GROUP BY c.cells, c.x, c.y, c.t_cell
) AS counted
