-- name: privacy/homogeneous
-- Count the classes of a release in which every row has the same sensitive value, and their rows; NULL is a value.
-- reads: release (any relation that holds the columns)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $value columns
-- gives: classes, rows
SELECT COUNT(*) AS classes, COALESCE(SUM(homogeneous.size), 0) AS rows
FROM (
  SELECT SUM(of_value.n) AS size
  FROM (SELECT $quasi_identifiers, COUNT(*) AS n FROM $release AS r GROUP BY $quasi_identifiers, $value) AS of_value
  GROUP BY $names HAVING COUNT(*) = 1
) AS homogeneous
