-- name: core/distinct_count
-- Count the distinct combinations of some columns' values in a relation.
-- reads: relation (any relation that holds the columns)
-- holes: $columns columns, $relation relation
-- gives: rows
SELECT COUNT(*) AS rows FROM (SELECT DISTINCT $columns FROM $relation AS r) AS combinations
