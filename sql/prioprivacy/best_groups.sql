-- name: prioprivacy/best_groups
-- Choose every group that comes before all groups it shares a tuple with: a greedy choice would take each of them.
-- reads: members (node, class, tuple), places (node, class, place)
-- holes: $members relation, $places relation
-- gives: node, class
SELECT placed.node, placed.class
FROM (
  SELECT m.node, m.class, p.place, MIN(p.place) OVER (PARTITION BY m.tuple) AS best
  FROM $members AS m
  JOIN $places AS p ON p.node = m.node AND p.class = m.class
) AS placed
GROUP BY placed.node, placed.class
HAVING MAX(placed.place - placed.best) = 0
