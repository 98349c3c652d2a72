-- name: attack/next_places
-- Part the places of classes by one more label, as a key that NULL has too; `before` is where they were.
-- reads: places (class, place), classes (class, the labels, n)
-- holes: $places relation, $classes relation, $label columns
-- gives: class, before, label, place
SELECT parted.class, parted.before, parted.label, DENSE_RANK() OVER (ORDER BY parted.before, parted.label) AS place
FROM (
  SELECT p.class, p.place AS before, COALESCE('=' || CAST(k.label AS TEXT), '') AS label
  FROM $places AS p
  JOIN (SELECT k.class, $label AS label FROM $classes AS k) AS k ON k.class = p.class
) AS parted
