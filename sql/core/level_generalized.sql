-- name: core/level_generalized
-- Count the rows whose label stands for several leaves: on each level of each attribute, before suppression.
-- reads: frequency_set (and its columns of loss: n times (leaves under the label - 1))
-- holes: $frequency_set relation, $losses columns
-- gives: rows, one count per loss column
SELECT COALESCE(SUM(f.n), 0) AS rows, COALESCE(SUM(CASE WHEN $losses > 0 THEN f.n END), 0) FROM $frequency_set AS f
