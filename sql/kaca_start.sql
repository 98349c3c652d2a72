-- name: kaca_start
-- Make every tuple a class of its own, where its region is safe as a whole.
-- reads: tuples (tuple, region, codes, n)
-- holes: $tuples relation, $codes columns, $safe predicate
-- gives: tuple, class (the same), the codes, n
-- engines: duckdb
SELECT tuple, tuple AS class, $codes, n
FROM $tuples
WHERE region IN (SELECT region FROM $tuples GROUP BY region HAVING COALESCE($safe, FALSE))
