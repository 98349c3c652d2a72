-- name: keeping/pool
-- Take the tuples that no region keeps, each as a class of its own.
-- reads: marked (one row per tuple: its codes, n = rows, region)
-- holes: $marked relation, $keys columns
-- gives: the keys, n, class (from 1)
SELECT $keys, m.n, ROW_NUMBER() OVER (ORDER BY $keys) AS class FROM $marked AS m WHERE m.region IS NULL
