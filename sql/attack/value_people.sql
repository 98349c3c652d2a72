-- name: attack/value_people
-- Count the people of a release who have each value of one column; NULL is a value.
-- reads: release (a copy of a release, with a column that tells people apart)
-- holes: $release relation, $value columns, $unit columns
-- gives: n
SELECT COUNT(DISTINCT $unit) AS n FROM $release AS r GROUP BY $value
