-- name: refine_joint
-- Put the best moves of different movers together.
-- reads: one (id, own, class, target, gain), other (id, own, class, target, gain)
-- holes: $one relation, $other relation
-- gives: id, own, class, target, gain
SELECT id, own, class, target, gain FROM $one
UNION ALL
SELECT id, own, class, target, gain FROM $other
