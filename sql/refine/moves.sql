-- name: refine/moves
-- Choose moves that have no class in common, so that each gains what it says: those best for both their classes.
-- reads: best (id, own, class, target, gain)
-- holes: $best relation
-- gives: id, n (rows), class (the new one)
SELECT b.id, b.own AS n, b.target AS class
FROM $best AS b
JOIN (
  SELECT id, ROW_NUMBER() OVER (PARTITION BY class ORDER BY gain DESC, id) AS place
  FROM (SELECT id, class, gain FROM $best UNION ALL SELECT id, target AS class, gain FROM $best) AS touched
) AS ranked ON ranked.id = b.id AND ranked.place = 1
GROUP BY b.id, b.own, b.target
HAVING COUNT(*) = 2
