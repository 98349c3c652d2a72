-- name: attack/owned_boxes
-- Find the boxes in which one owner's place lies and nobody else's: all their rows are taken to be the owner's.
-- reads: boxes (class, x_min, x_max, y_min, y_max, since, until, n), people (a copy of a table of who owns which place)
-- holes: $boxes relation, $people relation, $owner columns, $x columns, $y columns
-- gives: class, owner, n (rows), weight (rows)
SELECT b.class, MIN(p.owner) AS owner, b.n, b.n AS weight
FROM $boxes AS b
JOIN (SELECT $owner AS owner, $x AS x, $y AS y FROM $people AS o) AS p
  ON p.x >= b.x_min AND p.x <= b.x_max AND p.y >= b.y_min AND p.y <= b.y_max
GROUP BY b.class, b.n
HAVING COUNT(DISTINCT p.owner) = 1
