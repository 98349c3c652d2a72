-- name: attack/in_cells
-- Say in which numbered pairs of classes each target may stand.
-- reads: pairs (target, person, first, second, n), cells (class, first, second)
-- holes: $pairs relation, $cells relation
-- gives: target, person, class, n
SELECT p.target, p.person, c.class, p.n
FROM $pairs AS p
JOIN $cells AS c ON c.first = p.first AND c.second = p.second
