-- name: attack/same_by_chance
-- Say how many rows of classes look like another of the class by chance: the expected number, in any order.
-- reads: whole (class), shapes (class, value, n)
-- holes: $whole relation, $shapes relation
-- gives: expected
SELECT COALESCE(SUM(c.squares / CAST(c.n AS DOUBLE)), 0) AS expected
FROM (
  SELECT s.class, SUM(s.n) AS n, SUM(s.n * s.n) AS squares
  FROM $shapes AS s
  JOIN $whole AS w ON w.class = s.class
  GROUP BY s.class
) AS c
