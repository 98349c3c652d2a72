-- name: cloak/classes
-- Count who shares every released box and interval exactly, and what it costs them.
-- reads: released (place, unit, x, y, t, moment, own_k, dx, dy, dt), shown (place, x_min, x_max, y_min, y_max, t_min, t_max, since, until)
-- holes: $released relation, $shown relation
-- gives: x_min, x_max, y_min, y_max, since, until, length, n (rows), units, needed (the largest own k), shares (sum of 1 / own k), outside, beyond (rows out of their box, boxes out of their tolerances), room, delay (tolerances, added up)
-- engines: duckdb
SELECT
  MIN(x_min) AS x_min, MIN(x_max) AS x_max, MIN(y_min) AS y_min, MIN(y_max) AS y_max, MIN(since) AS since, MIN(until) AS until,
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
FROM $released AS r JOIN $shown AS s ON r.place = s.place
GROUP BY r.place
