-- name: attack/fits
-- List the classes that each target may stand in.
-- reads: fitting (target, place), places (class, place)
-- holes: $fitting relation, $places relation
-- gives: target, class
SELECT f.target, p.class FROM $fitting AS f JOIN $places AS p ON p.place = f.place
