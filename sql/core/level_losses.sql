-- name: core/level_losses
-- Add up every loss column over all rows: what each level of each attribute costs before suppression.
-- reads: frequency_set (and its columns of loss: n times (leaves under the label - 1))
-- holes: $frequency_set relation, $losses columns
-- gives: rows, one sum per loss column
SELECT COALESCE(SUM(f.n), 0) AS rows, COALESCE(SUM($losses), 0) FROM $frequency_set AS f
