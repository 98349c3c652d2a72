-- name: attack/overall_values
-- Count the rows of each value in the whole release, and those up to it, with the number that it has among the places.
-- reads: release (a copy of a release)
-- holes: $release relation, $value columns
-- gives: value (a number, in the order of the values), raw (the value itself), n, up_to
SELECT
  DENSE_RANK() OVER (ORDER BY $value) AS value,
  $value AS raw,
  COUNT(*) AS n,
  CAST(SUM(COUNT(*)) OVER (ORDER BY $value) AS BIGINT) AS up_to
FROM $release AS r
GROUP BY $value
