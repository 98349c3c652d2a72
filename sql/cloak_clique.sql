-- CliqueCloak: boxes around k messages within each other's tolerances (Gedik and Liu, 2005).
-- engines: duckdb

-- name: widest
-- Find the largest tolerances: in a grid with cells of this width, neighbours are at most one cell apart.
SELECT MAX(dx) AS x, MAX(dy) AS y, MAX(dt) AS t FROM $points;

-- name: messages
-- Number the messages in order of arrival.
-- columns: arrival (from 0), row, t, own_k, deadline (t + dt)
SELECT ROW_NUMBER() OVER (ORDER BY t, row) - 1 AS arrival, row, t, CAST(own_k AS BIGINT) AS own_k, t + dt AS deadline
FROM $points;

-- name: arrivals
-- List the k, time and deadline of every message, in order of arrival.
SELECT own_k, t, deadline FROM $messages ORDER BY arrival;

-- name: cliques
-- Compute, for every member of a clique, the smallest box and interval that contain all members.
SELECT
  p.row,
  MIN(p.x) OVER clique AS x_min, MAX(p.x) OVER clique AS x_max,
  MIN(p.y) OVER clique AS y_min, MAX(p.y) OVER clique AS y_max,
  MIN(p.t) OVER clique AS t_min, MAX(p.t) OVER clique AS t_max
FROM $members AS c
JOIN $messages AS m ON c.arrival = m.arrival
JOIN $points AS p ON m.row = p.row
WINDOW clique AS (PARTITION BY c.clique);

-- name: neighbours
-- List, for every message, the earlier ones that it can be cloaked with: from other units, and each within the other's tolerances.
-- columns: arrival, earlier (a list of arrivals), for the messages from $first to $last
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
ORDER BY later.arrival;
