-- name: cloak_inside_spans
-- Count the units that visit every row's cell within its interval, whatever their own intervals, and give the fewest.
-- reads: boxes (row, x_min, y_min, t_min, t_max), points (row, unit, t)
-- holes: $boxes relation, $points relation
-- gives: smallest (units)
-- engines: duckdb
SELECT MIN(units) AS smallest
FROM (
  SELECT
    COUNT(DISTINCT p.unit) OVER (
      PARTITION BY b.x_min, b.y_min ORDER BY p.t RANGE BETWEEN (p.t - b.t_min) PRECEDING AND (b.t_max - p.t) FOLLOWING
    ) AS units
  FROM $boxes AS b JOIN $points AS p ON b.row = p.row
) AS counted
