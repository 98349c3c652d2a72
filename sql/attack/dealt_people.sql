-- name: attack/dealt_people
-- Show who would have which value in which class, had the values been dealt in the order of their turns, by strides.
-- reads: places (class, value, place, turn), numbered (place, person)
-- holes: $places relation, $numbered relation, $stride value, $shift value, $rows value
-- gives: class, value, person
SELECT p.class, t.value, n.person
FROM $places AS p
JOIN $places AS t ON t.turn = (p.place * $stride + $shift) % $rows
JOIN $numbered AS n ON n.place = p.place
