-- name: cloak/blocks
-- Give every row that was met the box and the interval of its cell.
-- reads: cells (row, x_cell, y_cell, t_cell), met (row, space, time)
-- holes: $cells relation, $met relation, $depth value, $x_from value, $x_width value, $y_from value, $y_width value, $t_from value, $t_width value
-- gives: row, x_min, x_max, y_min, y_max, t_min, t_max
-- engines: duckdb
SELECT
  row,
  CAST($x_from AS DOUBLE) + ((x_cell >> wide) << wide) * CAST($x_width AS DOUBLE) AS x_min,
  CAST($x_from AS DOUBLE) + (((x_cell >> wide) + 1) << wide) * CAST($x_width AS DOUBLE) AS x_max,
  CAST($y_from AS DOUBLE) + ((y_cell >> wide) << wide) * CAST($y_width AS DOUBLE) AS y_min,
  CAST($y_from AS DOUBLE) + (((y_cell >> wide) + 1) << wide) * CAST($y_width AS DOUBLE) AS y_max,
  CAST($t_from AS DOUBLE) + ((t_cell >> long) << long) * CAST($t_width AS DOUBLE) AS t_min,
  CAST($t_from AS DOUBLE) + (((t_cell >> long) + 1) << long) * CAST($t_width AS DOUBLE) AS t_max
FROM (
  SELECT c.row, c.x_cell, c.y_cell, c.t_cell, CAST($depth - m.space AS INTEGER) AS wide, CAST($depth - m.time AS INTEGER) AS long
  FROM $cells AS c JOIN $met AS m ON c.row = m.row
) AS found
