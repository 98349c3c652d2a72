-- name: attack/observed_boxes
-- Find the boxes around each observation: any of their rows may be of whoever was seen there.
-- reads: observations (target, owner, x, y, t), boxes (class, x_min, x_max, y_min, y_max, since, until, n)
-- holes: $observations relation, $boxes relation
-- gives: target, class, owner, n (rows), weight (the part of all rows that may be it), among (all rows that may be it)
SELECT
  o.target, b.class, o.owner, b.n,
  CAST(b.n AS DOUBLE) / SUM(b.n) OVER (PARTITION BY o.target) AS weight,
  SUM(b.n) OVER (PARTITION BY o.target) AS among
FROM $observations AS o
JOIN $boxes AS b
  ON o.x >= b.x_min AND o.x <= b.x_max AND o.y >= b.y_min AND o.y <= b.y_max AND o.t >= b.since AND o.t <= b.until
