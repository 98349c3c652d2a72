-- name: attack/company
-- Count all who may stand where a target does, whatever pair of classes it is.
-- reads: narrowed (target), fits (target, person, class, n)
-- holes: $narrowed relation, $fits relation
-- gives: target, among
SELECT shared.target, SUM(shared.n) AS among
FROM (
  SELECT DISTINCT s.target, o.person, o.n
  FROM $narrowed AS s
  JOIN $fits AS f ON f.target = s.target
  JOIN $fits AS o ON o.class = f.class
) AS shared
GROUP BY shared.target
