-- name: cloak/quadrants
-- Give every row the box of its quadrant and the slice of time that it was taken in.
-- reads: keys (row, x_cell, y_cell, t_cell, key), owners (start, class_level)
-- holes: $keys relation, $owners relation, $depth value, $x_from value, $x_width value, $y_from value, $y_width value, $t_from value, $t_width value
-- gives: row, x_min, x_max, y_min, y_max, t_min, t_max
-- engines: duckdb
SELECT
  row,
  CAST($x_from AS DOUBLE) + x_cell * CAST($x_width AS DOUBLE) AS x_min,
  CAST($x_from AS DOUBLE) + (x_cell + cells) * CAST($x_width AS DOUBLE) AS x_max,
  CAST($y_from AS DOUBLE) + y_cell * CAST($y_width AS DOUBLE) AS y_min,
  CAST($y_from AS DOUBLE) + (y_cell + cells) * CAST($y_width AS DOUBLE) AS y_max,
  CAST($t_from AS DOUBLE) + t_cell * CAST($t_width AS DOUBLE) AS t_min,
  CAST($t_from AS DOUBLE) + (t_cell + 1) * CAST($t_width AS DOUBLE) AS t_max
FROM (
  SELECT
    k.row, k.t_cell,
    (k.x_cell >> ($depth - o.class_level)) << ($depth - o.class_level) AS x_cell,
    (k.y_cell >> ($depth - o.class_level)) << ($depth - o.class_level) AS y_cell,
    1 << ($depth - o.class_level) AS cells
  FROM $keys AS k ASOF JOIN $owners AS o ON k.key >= o.start
  WHERE NOT o.class_level IS NULL
) AS taken
