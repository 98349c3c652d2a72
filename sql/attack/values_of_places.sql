-- name: attack/values_of_places
-- Count the rows of each class by their value.
-- reads: places (class, value, place, turn)
-- holes: $places relation
-- gives: class, value, n
SELECT p.class, p.value, COUNT(*) AS n FROM $places AS p GROUP BY p.class, p.value
