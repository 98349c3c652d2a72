-- name: attack/cells
-- Number the pairs of classes that somebody may stand in, and count the people of each.
-- reads: pairs (target, first, second, n)
-- holes: $pairs relation
-- gives: class (the number of a pair), first, second, n (people)
SELECT ROW_NUMBER() OVER (ORDER BY p.first, p.second) AS class, p.first, p.second, SUM(p.n) AS n
FROM $pairs AS p
GROUP BY p.first, p.second
