-- name: keeping/held
-- Take the tuples that stay in a region: the region is their class.
-- reads: marked (one row per tuple: its codes, n = rows, region)
-- holes: $marked relation, $keys columns
-- gives: the keys, n, class
SELECT $keys, m.n, m.region AS class FROM $marked AS m WHERE NOT m.region IS NULL
