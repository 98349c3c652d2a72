-- name: attack/class_values
-- Count the rows of each class by the value of one column; NULL is a value.
-- reads: release (a copy of a release)
-- holes: $release relation, $labels columns, $value columns
-- gives: the labels, value, n (rows)
SELECT $labels, $value AS value, COUNT(*) AS n FROM $release AS r GROUP BY $labels, $value
