-- name: keeping/placed
-- Say of every tuple which class the box is of that it was put into; none of a tuple that no box holds.
-- reads: placed (one row per tuple: its codes, n = rows, place), boxes (place, class)
-- holes: $placed relation, $boxes relation, $keys columns
-- gives: the keys, n, class (NULL for none)
SELECT $keys, p.n, b.class FROM $placed AS p LEFT JOIN $boxes AS b ON b.place = p.place
