-- name: kaca/same
-- Find the classes that have come to the same generalized tuple: they are one class, called by the first of them.
-- reads: generalized (class, and per attribute and level its code, -1 where the class is generalized above)
-- holes: $generalized relation, $codes columns
-- gives: class, one (the class that it is now)
-- engines: duckdb
SELECT UNNEST(LIST(class)) AS class, MIN(class) AS one FROM $generalized GROUP BY $codes
