-- name: privacy/homogeneous_people
-- Count the people in classes of a release in which every row has the same sensitive value; NULL is a value.
-- reads: release (any relation that holds the columns)
-- holes: $release relation, $quasi_identifiers columns, $value columns, $unit columns
-- gives: people
SELECT COUNT(DISTINCT rows.unit) AS people
FROM (
  SELECT
    $unit AS unit,
    COUNT(*) OVER (PARTITION BY $quasi_identifiers) AS size,
    COUNT(*) OVER (PARTITION BY $quasi_identifiers, $value) AS same
  FROM $release AS r
) AS rows
WHERE rows.size = rows.same
