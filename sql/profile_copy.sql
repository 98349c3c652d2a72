-- name: profile_copy
-- Evaluate a slow view once (a CSV file, a view with joins), so that the profile need not for every column.
-- reads: source (the raw table, any shape)
-- holes: $columns columns, $source relation
-- gives: the columns
SELECT $columns FROM $source
