-- name: cloak/extent
-- Say how many rows can be placed, how many cannot and why, how many units there are, and what space and time they span.
-- reads: points (one row per row of the source: x, y, t, unit)
-- holes: $points relation
-- gives: rows, no_place, no_time, no_unit, placed (rows), units, x_low, x_high, y_low, y_high, t_low, t_high
-- engines: duckdb
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
) AS told
