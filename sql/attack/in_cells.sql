-- name: attack/in_cells
-- Say in which numbered pairs of classes each target may stand.
-- reads: pairs (target, first, second, n), cells (class, first, second, n)
-- holes: $pairs relation, $cells relation
-- gives: target, class, n (people of the target)
SELECT p.target, c.class, p.n
FROM $pairs AS p
JOIN $cells AS c ON c.first = p.first AND c.second = p.second
