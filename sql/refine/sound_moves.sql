-- name: refine/sound_moves
-- Keep of the moves those after which both their classes meet the privacy model.
-- reads: moves (id, n, class), state (id, class, before the moves), unsafe (class, after them)
-- holes: $moves relation, $state relation, $unsafe relation
-- gives: id, n, class
SELECT m.id, m.n, m.class
FROM $moves AS m
JOIN $state AS s ON s.id = m.id
WHERE NOT m.class IN (SELECT u.class FROM $unsafe AS u) AND NOT s.class IN (SELECT u.class FROM $unsafe AS u)
