-- name: refine_dirty
-- List the classes that have changed, or that a tuple would leave for a move that was not made: to be looked at again.
-- reads: best (id, own, class, target, gain), moves (id, n, class)
-- holes: $best relation, $moves relation
-- gives: class
SELECT class FROM $best
UNION
SELECT class FROM $moves
