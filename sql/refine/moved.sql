-- name: refine/moved
-- Apply the moves to a state; a tuple that had no class gets one.
-- reads: state (id, n, class), moves (id, n, class)
-- holes: $state relation, $moves relation
-- gives: id, n, class
SELECT id, n, class FROM $state WHERE NOT id IN (SELECT id FROM $moves)
UNION ALL
SELECT id, n, class FROM $moves
