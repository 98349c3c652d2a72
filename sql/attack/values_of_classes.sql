-- name: attack/values_of_classes
-- Count the rows of each class by the value of one column, as a key that NULL has too.
-- reads: release (a copy of a release)
-- holes: $release relation, $labels columns, $value columns
-- gives: class (numbered as in attack/classes), value (a key), n (rows)
SELECT ranked.class, ranked.value, COUNT(*) AS n
FROM (
  SELECT DENSE_RANK() OVER (ORDER BY $labels) AS class, COALESCE('=' || CAST($value AS TEXT), '') AS value
  FROM $release AS r
) AS ranked
GROUP BY ranked.class, ranked.value
