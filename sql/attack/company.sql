-- name: attack/company
-- Count all who may stand where a target does, whatever pair of classes it is.
-- reads: narrowed (target, n), fits (target, class, n)
-- holes: $narrowed relation, $fits relation
-- gives: target, n (people of the target), among
SELECT shared.target, shared.n, SUM(shared.others) AS among
FROM (
  SELECT DISTINCT s.target, s.n, o.target AS other, o.n AS others
  FROM $narrowed AS s
  JOIN $fits AS f ON f.target = s.target
  JOIN $fits AS o ON o.class = f.class
) AS shared
GROUP BY shared.target, shared.n
