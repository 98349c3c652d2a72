-- name: suggestion/people
-- Count the people with each value of a column.
-- reads: source (the raw table, any shape)
-- holes: $column columns, $unit columns, $source relation
-- gives: value, n (people)
SELECT $column AS value, COUNT(DISTINCT $unit) AS n FROM $source AS s GROUP BY $column
