-- name: population/unmatched
-- Count the tuples that a table has more rows of, or more people, than the population that it is a sample of.
-- reads: frequency_set (one row per distinct tuple, or several; n = rows of the table, population = those of the population)
-- holes: $frequency_set relation, $keys columns, $more predicate
-- gives: tuples
SELECT COUNT(*) AS tuples FROM (SELECT $keys FROM $frequency_set AS f GROUP BY $keys HAVING COALESCE($more, FALSE)) AS unmatched
