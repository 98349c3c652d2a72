-- name: cloak/shuffled
-- Show the released columns, ordered by a seeded hash of all of them.
-- reads: released (place, the kept columns), shown (place, the boxes)
-- holes: $columns columns, $released relation, $shown relation, $seed value
-- gives: the columns
-- engines: duckdb
SELECT kanon_released.*
FROM (SELECT $columns FROM $released AS r JOIN $shown AS s ON r.place = s.place) AS kanon_released
ORDER BY MD5(CONCAT($seed, '|', CAST(kanon_released AS VARCHAR)))
