-- name: cloak/stays
-- Give every row its cell as the box, and the interval of its instant there.
-- reads: cells (row, x_cell, y_cell), points (row, t), spans (x_cell, y_cell, t, t_min, t_max)
-- holes: $cells relation, $points relation, $spans relation, $x_from value, $x_width value, $y_from value, $y_width value
-- gives: row, x_min, x_max, y_min, y_max, t_min, t_max
-- engines: duckdb
SELECT
  c.row,
  CAST($x_from AS DOUBLE) + c.x_cell * CAST($x_width AS DOUBLE) AS x_min,
  CAST($x_from AS DOUBLE) + (c.x_cell + 1) * CAST($x_width AS DOUBLE) AS x_max,
  CAST($y_from AS DOUBLE) + c.y_cell * CAST($y_width AS DOUBLE) AS y_min,
  CAST($y_from AS DOUBLE) + (c.y_cell + 1) * CAST($y_width AS DOUBLE) AS y_max,
  s.t_min, s.t_max
FROM $cells AS c
JOIN $points AS p ON c.row = p.row
JOIN $spans AS s ON c.x_cell = s.x_cell AND c.y_cell = s.y_cell AND p.t = s.t
