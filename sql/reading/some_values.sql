-- name: reading/some_values
-- Look at a few values of a column of text, to see which ways to read it are worth a try on all of them.
-- reads: source (the rows of a file)
-- holes: $column columns, $source relation, $values value
-- gives: value
-- engines: duckdb
SELECT l.value
FROM (SELECT $column AS value FROM $source AS s) AS l
WHERE l.value IS NOT NULL
LIMIT $values
