-- name: cloak/cells
-- Put every point into its cell of a grid in space and time: cell i of an axis holds from + i * width up to the next.
-- reads: points (row, unit, x, y, t)
-- holes: $points relation, $x_from value, $x_width value, $y_from value, $y_width value, $t_from value, $t_width value
-- gives: row, unit, x_cell, y_cell, t_cell (numbers of the cells, whole)
-- engines: duckdb
SELECT
  row, unit,
  CAST(x_cell - CASE WHEN x < x_from + x_cell * x_width THEN 1 WHEN x >= x_from + (x_cell + 1) * x_width THEN -1 ELSE 0 END AS BIGINT)
    AS x_cell,
  CAST(y_cell - CASE WHEN y < y_from + y_cell * y_width THEN 1 WHEN y >= y_from + (y_cell + 1) * y_width THEN -1 ELSE 0 END AS BIGINT)
    AS y_cell,
  CAST(t_cell - CASE WHEN t < t_from + t_cell * t_width THEN 1 WHEN t >= t_from + (t_cell + 1) * t_width THEN -1 ELSE 0 END AS BIGINT)
    AS t_cell
FROM (
  SELECT
    p.row, p.unit, p.x, p.y, p.t, g.x_from, g.x_width, g.y_from, g.y_width, g.t_from, g.t_width,
    FLOOR((p.x - g.x_from) / g.x_width) AS x_cell,
    FLOOR((p.y - g.y_from) / g.y_width) AS y_cell,
    FLOOR((p.t - g.t_from) / g.t_width) AS t_cell
  FROM $points AS p
  CROSS JOIN (
    SELECT
      CAST($x_from AS DOUBLE) AS x_from, CAST($x_width AS DOUBLE) AS x_width,
      CAST($y_from AS DOUBLE) AS y_from, CAST($y_width AS DOUBLE) AS y_width,
      CAST($t_from AS DOUBLE) AS t_from, CAST($t_width AS DOUBLE) AS t_width
  ) AS g
) AS divided
