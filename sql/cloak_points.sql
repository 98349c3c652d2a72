-- Rows as points in space and time, and the grid that they lie in.
-- engines: duckdb

-- name: extent
-- Count the rows that can be cloaked, those that cannot and why, and the units; measure the extent in space and time.
-- columns: rows, no_place, no_time, no_unit, placed (rows), units, x_low, x_high, y_low, y_high, t_low, t_high
SELECT
  COUNT(*) AS rows,
  COUNT(*) FILTER (WHERE NOT has_place) AS no_place,
  COUNT(*) FILTER (WHERE NOT has_time) AS no_time,
  COUNT(*) FILTER (WHERE unit IS NULL) AS no_unit,
  COUNT(*) FILTER (WHERE placed) AS placed,
  COUNT(DISTINCT unit) FILTER (WHERE placed) AS units,
  MIN(x) FILTER (WHERE placed) AS x_low,
  MAX(x) FILTER (WHERE placed) AS x_high,
  MIN(y) FILTER (WHERE placed) AS y_low,
  MAX(y) FILTER (WHERE placed) AS y_high,
  MIN(t) FILTER (WHERE placed) AS t_low,
  MAX(t) FILTER (WHERE placed) AS t_high
FROM (
  SELECT x, y, t, unit, has_place, has_time, has_place AND has_time AND NOT unit IS NULL AS placed
  FROM (
    SELECT
      x, y, t, unit,
      COALESCE(ISFINITE(x) AND ISFINITE(y), FALSE) AS has_place,
      COALESCE(ISFINITE(t), FALSE) AS has_time
    FROM $points
  ) AS seen
) AS classified;

-- name: own
-- Count the rows with invalid tolerances, and those whose own k is invalid.
-- columns: no_tolerance, no_k (rows)
SELECT
  COUNT(*) FILTER (
    WHERE NOT COALESCE(dx >= 0 AND dy >= 0 AND dt >= 0 AND ISFINITE(dx) AND ISFINITE(dy) AND ISFINITE(dt), FALSE)
  ) AS no_tolerance,
  COUNT(*) FILTER (WHERE NOT COALESCE(requested_k >= 1 AND ISFINITE(requested_k) AND requested_k = FLOOR(requested_k), FALSE)) AS no_k
FROM $points;

-- name: medians
-- Find the medians, over the rows, of the areas of released boxes and of the lengths of intervals (the lower of two).
SELECT
  MIN(area) FILTER (WHERE 2 * rows_by_area >= every) AS area,
  MIN(length) FILTER (WHERE 2 * rows_by_length >= every) AS length
FROM (
  SELECT
    area, length,
    SUM(n) OVER (ORDER BY area) AS rows_by_area,
    SUM(n) OVER (ORDER BY length) AS rows_by_length,
    SUM(n) OVER () AS every
  FROM (SELECT (x_max - x_min) * (y_max - y_min) AS area, length, n FROM $classes) AS measured
) AS summed;

-- name: cells
-- Assign every point to its cell of a grid in space and time: cell i of an axis covers from + i * width up to, and not including, the next cell.
-- columns: row, unit, x_cell, y_cell, t_cell (whole numbers)
SELECT
  row, unit,
  -- FLOOR of a rounded quotient can be one cell off; the computed bounds of the cell decide
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
) AS divided;

-- name: points
-- Number the units, and leave out the rows without a place, a time or a unit.
-- columns: row, unit (from 1), the columns
SELECT p.row, u.number AS unit, $columns
FROM $points AS p
JOIN (
  SELECT unit, CAST(ROW_NUMBER() OVER (ORDER BY unit) AS INTEGER) AS number
  FROM (SELECT DISTINCT unit FROM $points) AS found
) AS u ON p.unit = u.unit
WHERE COALESCE(ISFINITE(p.x) AND ISFINITE(p.y) AND ISFINITE(p.t), FALSE);
