-- name: population/totals
-- Add up the rows of a table and those of its population.
-- reads: frequency_set (one row per distinct tuple, or several; n = rows of the table, population = those of the population)
-- holes: $frequency_set relation
-- gives: rows, population
SELECT COALESCE(SUM(f.n), 0) AS rows, COALESCE(SUM(f.population), 0) AS population FROM $frequency_set AS f
