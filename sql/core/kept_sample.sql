-- name: core/kept_sample
-- Number the first rows of the source and take one of every so many; what cannot be sorted is taken as text.
-- reads: source (the raw table, any shape)
-- holes: $source relation, $columns columns, $natives columns, $texts columns, $most value, $stride value
-- gives: row_id, the columns
SELECT numbered.row_id, $natives, CAST($texts AS TEXT)
FROM (SELECT ROW_NUMBER() OVER () AS row_id, $columns FROM $source AS s LIMIT $most) AS numbered
WHERE MOD(numbered.row_id, $stride) = 0
