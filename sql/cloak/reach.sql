-- name: cloak/reach
-- Find for every row the coarsest grid in space and in time whose cell around it stays inside its tolerances.
-- reads: points (row, x, y, t, dx, dy, dt), cells (row, unit, x_cell, y_cell, t_cell at the given depth)
-- holes: $points relation, $cells relation, $depth value, $x_from value, $x_width value, $y_from value, $y_width value, $t_from value, $t_width value
-- gives: row, unit, x_cell, y_cell, t_cell, space, time (levels, 0 the coarsest); no row whose leaf is outside them
-- engines: duckdb
SELECT
  row, unit, x_cell, y_cell, t_cell,
  MIN(level) FILTER (WHERE x - x_min <= dx AND x_max - x <= dx AND y - y_min <= dy AND y_max - y <= dy) AS space,
  MIN(level) FILTER (WHERE t - t_min <= dt AND t_max - t <= dt) AS time
FROM (
  SELECT
    c.row, c.unit, c.x_cell, c.y_cell, c.t_cell, l.level, p.x, p.y, p.t, p.dx, p.dy, p.dt,
    CAST($x_from AS DOUBLE) + ((c.x_cell >> l.up) << l.up) * CAST($x_width AS DOUBLE) AS x_min,
    CAST($x_from AS DOUBLE) + (((c.x_cell >> l.up) + 1) << l.up) * CAST($x_width AS DOUBLE) AS x_max,
    CAST($y_from AS DOUBLE) + ((c.y_cell >> l.up) << l.up) * CAST($y_width AS DOUBLE) AS y_min,
    CAST($y_from AS DOUBLE) + (((c.y_cell >> l.up) + 1) << l.up) * CAST($y_width AS DOUBLE) AS y_max,
    CAST($t_from AS DOUBLE) + ((c.t_cell >> l.up) << l.up) * CAST($t_width AS DOUBLE) AS t_min,
    CAST($t_from AS DOUBLE) + (((c.t_cell >> l.up) + 1) << l.up) * CAST($t_width AS DOUBLE) AS t_max
  FROM $cells AS c
  JOIN $points AS p ON c.row = p.row
  CROSS JOIN (SELECT CAST(range AS INTEGER) AS level, CAST($depth - range AS INTEGER) AS up FROM RANGE($depth + 1)) AS l
) AS measured
GROUP BY row, unit, x_cell, y_cell, t_cell
HAVING NOT space IS NULL AND NOT time IS NULL
