-- name: cloak/in_boxes
-- Give every row the number of its box.
-- reads: given (row, x_min, x_max, y_min, y_max, t_min, t_max), boxes (box and the same)
-- holes: $given relation, $boxes relation
-- gives: row, box
-- engines: duckdb
SELECT g.row, CAST(b.box AS INTEGER) AS box
FROM $given AS g
JOIN $boxes AS b
  ON g.x_min = b.x_min AND g.x_max = b.x_max
  AND g.y_min = b.y_min AND g.y_max = b.y_max
  AND g.t_min = b.t_min AND g.t_max = b.t_max
