-- name: mondrian/closed
-- Take the tuples of the partitions that cannot be cut: they are classes now.
-- reads: open (level-0 columns, n, class), chosen (class)
-- holes: $columns columns, $open relation, $chosen relation
-- gives: the columns
-- engines: duckdb
SELECT $columns FROM $open AS o WHERE NOT EXISTS (SELECT 1 AS cut FROM $chosen AS h WHERE h.class = o.class)
