-- name: cloak/released
-- Put every row that has a box to the place of it, with all that a check needs.
-- reads: points (row, unit, x, y, t, moment, the columns), boxed (row, box), places (box, place, t_min, t_max)
-- holes: $points relation, $boxed relation, $places relation, $columns columns
-- gives: place, unit, x, y, t, moment, the columns
-- engines: duckdb
SELECT b.place, p.unit, p.x, p.y, p.t, p.moment, $columns
FROM $points AS p
JOIN (SELECT r.row, s.place FROM $boxed AS r JOIN $places AS s ON r.box = s.box) AS b ON p.row = b.row
