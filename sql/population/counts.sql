-- name: population/counts
-- Take a population as a file shows it, with its rows as a number again.
-- reads: written (the quasi-identifiers as the release shows them; kanon_population, in any type)
-- holes: $written relation, $columns columns
-- gives: the columns, kanon_population
SELECT $columns, CAST(w.kanon_population AS BIGINT) AS kanon_population FROM $written AS w
