-- name: attack/homogeneous_people
-- Count the people of a release who have a row in a class in which every row has the same sensitive value.
-- reads: release (a copy of a release that tells people apart)
-- holes: $release relation, $quasi_identifiers columns, $value columns, $unit columns
-- gives: people
SELECT COUNT(DISTINCT $unit) AS people
FROM (
  SELECT
    $unit,
    COUNT(*) OVER (PARTITION BY $quasi_identifiers) AS size,
    COUNT(*) OVER (PARTITION BY $quasi_identifiers, $value) AS same
  FROM $release AS r
) AS classed
WHERE classed.same = classed.size
