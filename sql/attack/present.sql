-- name: attack/present
-- Count the rows of everybody who was in a box while it lasted.
-- reads: boxes (class, x_min, x_max, y_min, y_max, since, until, n), guesses (class, owner), source (a copy of the source)
-- holes: $boxes relation, $guesses relation, $source relation, $owner columns, $x columns, $y columns, $t columns
-- gives: class, owner, n (rows)
SELECT b.class, s.owner, COUNT(*) AS n
FROM $boxes AS b
JOIN (SELECT DISTINCT g.class FROM $guesses AS g) AS guessed ON guessed.class = b.class
JOIN (SELECT $owner AS owner, $x AS x, $y AS y, $t AS t FROM $source AS r) AS s
  ON s.x >= b.x_min AND s.x <= b.x_max AND s.y >= b.y_min AND s.y <= b.y_max AND s.t >= b.since AND s.t <= b.until
GROUP BY b.class, s.owner
