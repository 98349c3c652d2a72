-- name: privacy/class_rows
-- Count the rows of a release by all that its classes are judged by; 0.0 and -0.0, which are equal, apart.
-- reads: release (any relation that holds the columns)
-- holes: $release relation, $columns columns
-- gives: the columns, n (rows)
SELECT $columns, COUNT(*) AS n FROM $release AS r GROUP BY $columns, COALESCE(CAST($columns AS TEXT), '')
