-- name: refine/moved
-- Apply the moves to a state; a tuple that had no class gets one.
-- reads: state (id, n, class), moves (id, n, class)
-- holes: $state relation, $moves relation
-- gives: id, n, class
SELECT s.id, s.n, s.class FROM $state AS s WHERE NOT s.id IN (SELECT m.id FROM $moves AS m)
UNION ALL
SELECT m.id, m.n, m.class FROM $moves AS m
