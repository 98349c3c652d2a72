-- name: attack/hidden
-- Say among how many people each target stands at least: those of the largest class that it may stand in.
-- reads: fits (target, person, class, n)
-- holes: $fits relation, $class columns
-- gives: target, among
SELECT f.target, MAX(sizes.n) AS among
FROM (SELECT DISTINCT p.target, $class AS class FROM $fits AS p) AS f
JOIN (
  SELECT one.class, SUM(one.n) AS n
  FROM (SELECT DISTINCT p.person, $class AS class, p.n FROM $fits AS p) AS one
  GROUP BY one.class
) AS sizes ON sizes.class = f.class
GROUP BY f.target
