-- name: attack/class_count
-- Count the classes among the places.
-- reads: places (class, value, place, turn)
-- holes: $places relation
-- gives: classes
SELECT MAX(p.class) AS classes FROM $places AS p
