-- name: mondrian/after_rounds
-- Take the tuples of the partitions that are open after some rounds, or of those that became classes in them.
-- reads: rounds (level-0 columns, n, class, is_open)
-- holes: $columns columns, $open value, $rounds relation
-- gives: the columns
-- engines: duckdb
SELECT $columns FROM $rounds WHERE is_open = $open
