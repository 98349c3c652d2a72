-- name: attack/dealt_values
-- Count the rows of each class by value, had the values been dealt to them in the order of their turns, by strides.
-- reads: places (class, value, place, turn)
-- holes: $places relation, $stride value, $shift value, $rows value
-- gives: class, value, n
SELECT p.class, t.value, COUNT(*) AS n
FROM $places AS p
JOIN $places AS t ON t.turn = (p.place * $stride + $shift) % $rows
GROUP BY p.class, t.value
