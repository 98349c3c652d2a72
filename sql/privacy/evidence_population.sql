-- name: privacy/evidence_population
-- Count the rows of a population, or its people, by what evidence shows of them.
-- reads: shown (what is shown, and the column that is counted)
-- holes: $shown relation, $labels columns, $names columns, $counted columns
-- gives: what is shown by its released names, population
SELECT $names, COUNT(DISTINCT $counted) AS population FROM $shown AS s GROUP BY $labels
