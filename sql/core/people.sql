-- name: core/people
-- Count the people that a column tells apart.
-- reads: relation (any relation that holds the column)
-- holes: $relation relation, $unit columns
-- gives: people
SELECT COUNT(DISTINCT $unit) AS people FROM $relation AS r
