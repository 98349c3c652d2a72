-- name: attack/settled_classes
-- Find the classes of which all rows are known: as many as fit no other class.
-- reads: classes (class, n), people (row_id, target, value), fits (target, class)
-- holes: $classes relation, $people relation, $fits relation
-- gives: class
SELECT placed.class
FROM (
  SELECT f.class, COUNT(*) OVER (PARTITION BY p.row_id) AS classes
  FROM $people AS p
  JOIN $fits AS f ON f.target = p.target
) AS placed
JOIN $classes AS k ON k.class = placed.class
GROUP BY placed.class, k.n
HAVING COUNT(*) = k.n AND MAX(placed.classes) = 1
