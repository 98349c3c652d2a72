-- name: cloak/classes
-- Count who shares every released box and interval exactly, and what it costs them.
-- reads: released (unit, x, y, moment, t_min, t_max, own_k, dx, dy, dt, x_min, x_max, y_min, y_max, since, until)
-- holes: $released relation
-- gives: x_min, x_max, y_min, y_max, since, until, length, n (rows), units, needed (the largest own k), shares (sum of 1 / own k), outside, beyond (rows out of their box, boxes out of their tolerances), room, delay (tolerances, added up)
-- engines: duckdb
SELECT
  x_min, x_max, y_min, y_max, since, until,
  MAX(t_max - t_min) AS length,
  COUNT(*) AS n,
  COUNT(DISTINCT unit) AS units,
  MAX(own_k) AS needed,
  SUM(1.0 / own_k) AS shares,
  COUNT(*) FILTER (
    WHERE NOT COALESCE(x BETWEEN x_min AND x_max AND y BETWEEN y_min AND y_max AND moment BETWEEN since AND until, FALSE)
  ) AS outside,
  COUNT(*) FILTER (
    WHERE x - x_min > dx OR x_max - x > dx OR y - y_min > dy OR y_max - y > dy OR t - t_min > dt OR t_max - t > dt
  ) AS beyond,
  SUM(SQRT(4 * dx * dy)) AS room,
  SUM(2 * dt) AS delay
FROM $released
GROUP BY x_min, x_max, y_min, y_max, since, until
