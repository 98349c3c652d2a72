-- name: cloak/summary
-- Say in one row whether every released box is shared by enough units, holds its rows and stays inside their tolerances; and how fine the boxes are.
-- reads: classes (x_min, x_max, y_min, y_max, length, n, units, needed, shares, outside, beyond, room, delay)
-- holes: $classes relation
-- gives: rows, classes, smallest (units), unsafe_classes, unsafe_rows, outside, beyond, relative_anonymity, mean_area, mean_length, relative_space, relative_time
-- engines: duckdb
SELECT
  COALESCE(SUM(n), 0) AS rows,
  COUNT(*) AS classes,
  MIN(units) AS smallest,
  COUNT(*) FILTER (WHERE NOT COALESCE(units >= needed, FALSE)) AS unsafe_classes,
  COALESCE(SUM(n) FILTER (WHERE NOT COALESCE(units >= needed, FALSE)), 0) AS unsafe_rows,
  COALESCE(SUM(outside), 0) AS outside,
  COALESCE(SUM(beyond), 0) AS beyond,
  SUM(units * shares) / SUM(n) AS relative_anonymity,
  SUM(area * n) / SUM(n) AS mean_area,
  SUM(length * n) / SUM(n) AS mean_length,
  SUM(room / SQRT(area)) FILTER (WHERE area > 0) / SUM(n) FILTER (WHERE area > 0) AS relative_space,
  SUM(delay / length) FILTER (WHERE length > 0) / SUM(n) FILTER (WHERE length > 0) AS relative_time
FROM (
  SELECT n, units, needed, shares, outside, beyond, room, delay, length, (x_max - x_min) * (y_max - y_min) AS area
  FROM $classes
) AS measured
