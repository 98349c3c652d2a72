-- name: cloak/neighbours
-- List for every message those before it that it can be cloaked with: other units, each inside the other's tolerances.
-- reads: points (row, unit, x, y, t, dx, dy, dt), cells (row, x_cell, y_cell, t_cell; as wide as the largest tolerance), messages (row, arrival)
-- holes: $points relation, $cells relation, $messages relation, $first value, $last value
-- gives: arrival, earlier (a list of arrivals), for the messages from $first to $last
-- engines: duckdb
SELECT later.arrival, LIST(earlier.arrival ORDER BY earlier.arrival) AS earlier
FROM (
  SELECT m.arrival, p.unit, p.x, p.y, p.t, p.dx, p.dy, p.dt, c.x_cell + dx_cell.range AS x_cell, c.y_cell + dy_cell.range AS y_cell, c.t_cell + dt_cell.range AS t_cell
  FROM $messages AS m
  JOIN $points AS p ON m.row = p.row
  JOIN $cells AS c ON m.row = c.row
  CROSS JOIN RANGE(-1, 2) AS dx_cell
  CROSS JOIN RANGE(-1, 2) AS dy_cell
  CROSS JOIN RANGE(-1, 1) AS dt_cell
  WHERE m.arrival BETWEEN $first AND $last
) AS later
JOIN (
  SELECT m.arrival, p.unit, p.x, p.y, p.t, p.dx, p.dy, p.dt, c.x_cell, c.y_cell, c.t_cell
  FROM $messages AS m
  JOIN $points AS p ON m.row = p.row
  JOIN $cells AS c ON m.row = c.row
) AS earlier
  ON later.x_cell = earlier.x_cell AND later.y_cell = earlier.y_cell AND later.t_cell = earlier.t_cell
WHERE
  earlier.arrival < later.arrival
  AND earlier.unit <> later.unit
  AND ABS(later.x - earlier.x) <= LEAST(later.dx, earlier.dx)
  AND ABS(later.y - earlier.y) <= LEAST(later.dy, earlier.dy)
  AND later.t - earlier.t <= LEAST(later.dt, earlier.dt)
GROUP BY later.arrival
ORDER BY later.arrival
