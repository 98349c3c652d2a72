-- name: attack/shares_of_people
-- Count the people who have each value, by the number that it has among the places.
-- reads: places (class, value, place, turn), numbered (place, person)
-- holes: $places relation, $numbered relation
-- gives: value, n (people)
SELECT p.value, COUNT(DISTINCT n.person) AS n FROM $places AS p JOIN $numbered AS n ON n.place = p.place GROUP BY p.value
