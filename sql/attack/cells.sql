-- name: attack/cells
-- Number the pairs of classes that somebody may stand in.
-- reads: pairs (target, person, first, second, n)
-- holes: $pairs relation
-- gives: class (the number of a pair), first, second
SELECT ROW_NUMBER() OVER (ORDER BY p.first, p.second) AS class, p.first, p.second
FROM $pairs AS p
GROUP BY p.first, p.second
