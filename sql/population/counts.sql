-- name: population/counts
-- Take a population as a file shows it, with its rows as a number again.
-- reads: written (the quasi-identifiers as the release shows them; population, in any type)
-- holes: $written relation, $columns columns
-- gives: the columns, population
SELECT $columns, CAST(w.population AS BIGINT) AS population FROM $written AS w
