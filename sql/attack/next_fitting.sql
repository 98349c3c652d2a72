-- name: attack/next_fitting
-- Go on with the places whose next label may stand for what is known of a target.
-- reads: fitting (target, place), targets (target, and what is known of each), places (class, before, label, place),
--   covers (label, value: keys)
-- holes: $fitting relation, $targets relation, $places relation, $covers relation, $value columns
-- gives: target, place
SELECT f.target, p.place
FROM $fitting AS f
JOIN (SELECT t.target, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $targets AS t) AS t
  ON t.target = f.target
JOIN $covers AS c ON c.value = t.value
JOIN (SELECT DISTINCT before, label, place FROM $places AS all_places) AS p
  ON p.before = f.place AND p.label = c.label
