-- name: attack/people
-- Count the people that a column tells apart.
-- reads: copied (a copy of a table)
-- holes: $copied relation, $unit columns
-- gives: people
SELECT COUNT(DISTINCT $unit) AS people FROM $copied AS c
