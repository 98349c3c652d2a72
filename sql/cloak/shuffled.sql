-- name: cloak/shuffled
-- Show the released columns, ordered by a seeded hash of all of them.
-- reads: released (the columns and more)
-- holes: $columns columns, $released relation, $seed value
-- gives: the columns
-- engines: duckdb
SELECT kanon_released.*
FROM (SELECT $columns FROM $released) AS kanon_released
ORDER BY MD5(CONCAT($seed, '|', CAST(kanon_released AS VARCHAR)))
