-- name: refine/values
-- Count the rows of every tuple by its sensitive values; the tuples are numbered as they are where they have one row each.
-- reads: frequency_set (level-0 codes, sensitive codes, n rows)
-- holes: $frequency_set relation, $keys columns, $sensitive columns
-- gives: id, n, the sensitive codes
SELECT DENSE_RANK() OVER (ORDER BY $keys) AS id, CAST(f.n AS BIGINT) AS n, $sensitive FROM $frequency_set AS f
