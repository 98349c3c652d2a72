-- name: refine/dirty
-- List the classes to be looked at again: those that change, or that a tuple would leave for a move that was not made or not looked at.
-- reads: best (id, own, class, target, gain), moves (id, n, class), movers (class, place)
-- holes: $best relation, $moves relation, $movers relation, $seen value, $far value
-- gives: class
SELECT class FROM $best
UNION
SELECT class FROM $moves
UNION
SELECT class FROM $movers WHERE place > $seen AND place <= $far
