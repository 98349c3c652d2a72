-- name: privacy/homogeneous
-- Count the classes of one sensitive value, their rows, and all rows with the most frequent value of their class.
-- reads: release (any relation that holds the columns; NULL is a value)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $value columns
-- gives: classes, rows, frequent
SELECT
  COALESCE(SUM(CASE WHEN of_class.different = 1 THEN 1 ELSE 0 END), 0) AS classes,
  COALESCE(SUM(CASE WHEN of_class.different = 1 THEN of_class.most ELSE 0 END), 0) AS rows,
  COALESCE(SUM(of_class.most), 0) AS frequent
FROM (
  SELECT COUNT(*) AS different, MAX(of_value.n) AS most
  FROM (SELECT $quasi_identifiers, COUNT(*) AS n FROM $release AS r GROUP BY $quasi_identifiers, $value) AS of_value
  GROUP BY $names
) AS of_class
