-- name: attack/next_fitting
-- Go on with the places whose next label may stand for what is known of a target.
-- reads: fitting (target, place), targets (target, what is known), places (class, before, label, place), covers (label, value)
-- holes: $fitting relation, $targets relation, $places relation, $covers relation, $value columns
-- gives: target, place
SELECT f.target, p.place
FROM $fitting AS f
JOIN (SELECT t.target, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $targets AS t) AS t
  ON t.target = f.target
JOIN $covers AS c ON c.value = t.value
JOIN (SELECT DISTINCT a.before, a.label, a.place FROM $places AS a) AS p
  ON p.before = f.place AND p.label = c.label
