-- name: cloak/cliques
-- Give every member of a clique the smallest box and interval that hold all its members.
-- reads: points (row, x, y, t), messages (row, arrival), members (arrival, clique)
-- holes: $points relation, $messages relation, $members relation
-- gives: row, x_min, x_max, y_min, y_max, t_min, t_max
-- engines: duckdb
SELECT
  p.row,
  MIN(p.x) OVER clique AS x_min, MAX(p.x) OVER clique AS x_max,
  MIN(p.y) OVER clique AS y_min, MAX(p.y) OVER clique AS y_max,
  MIN(p.t) OVER clique AS t_min, MAX(p.t) OVER clique AS t_max
FROM $members AS c
JOIN $messages AS m ON c.arrival = m.arrival
JOIN $points AS p ON m.row = p.row
WINDOW clique AS (PARTITION BY c.clique)
