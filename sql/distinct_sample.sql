-- name: distinct_sample
-- Count the different values of the columns that a release keeps as they are, in a part of the rows.
-- reads: source (the raw table, any shape)
-- holes: $source relation, $columns columns, $counted columns, $most value
-- gives: rows, the number of different values per column
SELECT COUNT(*) AS rows, COUNT(DISTINCT $counted)
FROM (SELECT $columns FROM $source LIMIT $most) AS sampled
