-- name: cloak/places
-- Find the place of every box among all, in the order of what is released of them; boxes that show the same have one place.
-- reads: boxes (box, t_min, t_max, and what is released of it)
-- holes: $boxes relation, $shown columns
-- gives: box, place (from 1), t_min, t_max, what is released
-- engines: duckdb
SELECT box, CAST(DENSE_RANK() OVER (ORDER BY $shown) AS INTEGER) AS place, t_min, t_max, $shown FROM $boxes
