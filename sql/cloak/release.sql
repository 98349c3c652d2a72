-- name: cloak/release
-- Show the released columns, in an order that the released values alone decide: boxes by their places, equal values by how they look.
-- reads: released (place, the kept columns), shown (place, the boxes)
-- holes: $columns columns, $released relation, $shown relation, $kept columns, $unlike columns
-- gives: the columns
-- engines: duckdb
SELECT $columns
FROM $released AS r JOIN $shown AS s ON r.place = s.place
ORDER BY r.place, $kept, MD5(CAST([COALESCE(CAST($unlike AS TEXT), '')] AS TEXT))
