-- name: refine/moves
-- Choose moves that have no class in common, so that each gains what it says: those best for both their classes.
-- reads: best (id, own, class, target, gain)
-- holes: $best relation
-- gives: id, n (rows), class (the new one)
SELECT b.id, b.own AS n, b.target AS class
FROM $best AS b
JOIN (
  SELECT t.id, ROW_NUMBER() OVER (PARTITION BY t.class ORDER BY t.gain DESC, t.id) AS place
  FROM (
    SELECT b.id, b.class, b.gain FROM $best AS b
    UNION ALL
    SELECT b.id, b.target AS class, b.gain FROM $best AS b
  ) AS t
) AS ranked ON ranked.id = b.id AND ranked.place = 1
GROUP BY b.id, b.own, b.target
HAVING COUNT(*) = 2
