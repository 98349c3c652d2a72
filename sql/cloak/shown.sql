-- name: cloak/shown
-- Give what is released of the boxes at every place, once.
-- reads: places (place, x_min, x_max, y_min, y_max, t_min, t_max, since, until)
-- holes: $places relation
-- gives: place, x_min, x_max, y_min, y_max, t_min, t_max, since, until
-- engines: duckdb
SELECT
  place,
  MIN(x_min) AS x_min, MIN(x_max) AS x_max, MIN(y_min) AS y_min, MIN(y_max) AS y_max,
  MIN(t_min) AS t_min, MAX(t_max) AS t_max, MIN(since) AS since, MIN(until) AS until
FROM $places
GROUP BY place
