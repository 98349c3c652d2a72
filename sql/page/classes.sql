-- name: page/classes
-- Count the rows of every class of a node, and its size, which may be people.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $frequency_set relation, $levels columns, $size figure
-- gives: the levels, n (rows), size (rows, or people where these are counted)
SELECT $levels, SUM(f.n) AS n, $size AS size FROM $frequency_set AS f GROUP BY $levels
