-- name: page/some_rows
-- Look at a few rows of a release, from here and there in it: one of every so many.
-- reads: release (the rows as they were released, any shape)
-- holes: $columns columns, $named columns, $release relation, $rows value, $stride value
-- gives: the columns
SELECT $columns
FROM (SELECT ROW_NUMBER() OVER () AS row_id, $named FROM $release AS r) AS numbered
WHERE MOD(numbered.row_id, $stride) = 0
LIMIT $rows
