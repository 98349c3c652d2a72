-- name: refine/dirty
-- List the classes to be looked at again: those that change, or that a tuple would leave for a move that was not made or not looked at.
-- reads: best (id, own, class, target, gain), moves (id, n, class), movers (class, place)
-- holes: $best relation, $moves relation, $movers relation, $seen value, $far value
-- gives: class
SELECT b.class FROM $best AS b
UNION
SELECT m.class FROM $moves AS m
UNION
SELECT m.class FROM $movers AS m WHERE m.place > $seen AND m.place <= $far
