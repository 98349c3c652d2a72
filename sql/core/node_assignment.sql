-- name: core/node_assignment
-- Assign every tuple to its class at one lattice node; a tuple of an unsafe class is left out, and one without a row.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $frequency_set relation, $keys columns, $levels columns, $sensitive columns, $safe predicate
-- gives: the keys (a tuple's level-0 codes), n (rows), class
SELECT $keys, numbered.n, numbered.class
FROM (SELECT $keys, f.n, DENSE_RANK() OVER (ORDER BY $levels) AS class FROM $frequency_set AS f) AS numbered
WHERE numbered.n > 0 AND numbered.class IN (
  SELECT numbered.class
  FROM (SELECT $sensitive, f.n, DENSE_RANK() OVER (ORDER BY $levels) AS class FROM $frequency_set AS f) AS numbered
  GROUP BY numbered.class HAVING COALESCE($safe, FALSE)
)
