-- name: core/kept_figures
-- Count the values of the columns that a release would keep as they are, and the different ones, in a part of the rows.
-- reads: source (the raw table, any shape)
-- holes: $source relation, $natives columns, $texts columns, $held columns, $different columns, $most value
-- gives: rows, the number of values per column, the number of different values per column
SELECT COUNT(*) AS rows, COUNT($held), COUNT(DISTINCT $different)
FROM (SELECT $natives, CAST($texts AS TEXT) FROM $source AS s LIMIT $most) AS sampled
