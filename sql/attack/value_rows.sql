-- name: attack/value_rows
-- Count the rows of a release by the value of one column; NULL is a value.
-- reads: release (a copy of a release)
-- holes: $release relation, $value columns
-- gives: n
SELECT COUNT(*) AS n FROM $release AS r GROUP BY $value
