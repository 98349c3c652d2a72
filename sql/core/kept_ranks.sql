-- name: core/kept_ranks
-- Correlate the places of every kept column with those of every quasi-identifier (Spearman's coefficient).
-- reads: cells (number, row_id, place; kept columns have the numbers below those of the quasi-identifiers)
-- holes: $cells relation, $kept value
-- gives: kept, quasi (the columns' numbers), rows (with both), correlation
SELECT k.number AS kept, q.number AS quasi, COUNT(*) AS rows, CORR(k.place, q.place) AS correlation
FROM $cells AS k
JOIN $cells AS q ON k.row_id = q.row_id
WHERE k.number < $kept AND q.number >= $kept AND NOT k.place IS NULL AND NOT q.place IS NULL
GROUP BY k.number, q.number
