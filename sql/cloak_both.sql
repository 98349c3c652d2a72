-- Cloaking in space and time together.
-- engines: duckdb

-- name: reach
-- Find, for every row, the coarsest space grid and time grid whose cell around the row stays within its tolerances.
-- columns: row, unit, x_cell, y_cell, t_cell, space, time (levels, 0 is the coarsest); without the rows whose finest cell exceeds them
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
HAVING NOT space IS NULL AND NOT time IS NULL;

-- name: unmet
-- Keep the waiting rows that were not taken.
SELECT w.row, w.unit, w.x_cell, w.y_cell, w.t_cell, w.space, w.time
FROM $waiting AS w LEFT JOIN $met AS m ON w.row = m.row
WHERE m.row IS NULL;

-- name: blocks
-- Compute the box and interval of the cell of every row that was taken.
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
) AS found;

-- name: coarsest
-- Find the coarsest levels that any waiting row accepts.
-- columns: space, time (NULL if no row waits)
SELECT MIN(space) AS space, MIN(time) AS time FROM $waiting;

-- name: met
-- Take the waiting rows in cells of one grid that enough units accept.
-- columns: row, space, time (the levels that it is released at)
SELECT w.row, $space AS space, $time AS time
FROM $waiting AS w
JOIN (
  SELECT x, y, t
  FROM (
    SELECT DISTINCT x_cell >> $space_shift AS x, y_cell >> $space_shift AS y, t_cell >> $time_shift AS t, unit, 1 AS n
    FROM $waiting
    WHERE space <= $space AND time <= $time
  ) AS willing
  GROUP BY x, y, t
  HAVING COALESCE($safe, FALSE)
) AS c ON w.x_cell >> $space_shift = c.x AND w.y_cell >> $space_shift = c.y AND w.t_cell >> $time_shift = c.t
WHERE w.space <= $space AND w.time <= $time;
