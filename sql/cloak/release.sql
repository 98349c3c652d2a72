-- name: cloak/release
-- Show the released columns, in an order that the released values alone decide: equal ones by how they look.
-- reads: released (the columns and more)
-- holes: $columns columns, $released relation
-- gives: the columns
-- engines: duckdb
SELECT $columns FROM $released
ORDER BY $columns, MD5(CAST([COALESCE(CAST($columns AS TEXT), '')] AS TEXT))
