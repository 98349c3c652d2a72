-- name: core/copy
-- Copy some columns of a relation.
-- reads: source (any shape)
-- holes: $columns columns, $source relation
-- gives: the columns
SELECT $columns FROM $source AS s
