-- name: core/row_count
-- Count the rows of a relation, to compare the frequency set and the release with it.
-- reads: relation (any shape)
-- holes: $relation relation
-- gives: rows
SELECT COUNT(*) AS rows FROM $relation AS r
