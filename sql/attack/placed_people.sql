-- name: attack/placed_people
-- Show who has which value in which class.
-- reads: places (class, value, place, turn), numbered (place, person)
-- holes: $places relation, $numbered relation
-- gives: class, value, person
SELECT p.class, p.value, n.person FROM $places AS p JOIN $numbered AS n ON n.place = p.place
