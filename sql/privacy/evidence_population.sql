-- name: privacy/evidence_population
-- Count the rows of a population, or its people, by what evidence shows of them.
-- reads: shown (what is shown, and the column that is counted)
-- holes: $shown relation, $labels columns, $names columns, $counted columns
-- gives: what is shown by its released names, kanon_population
SELECT $names, COUNT(DISTINCT $counted) AS kanon_population FROM $shown AS s GROUP BY $labels
