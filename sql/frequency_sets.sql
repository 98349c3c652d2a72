-- Frequency sets: the distinct tuples of quasi-identifiers, with their rows.

-- name: tuples
-- Count the rows behind every distinct combination of raw quasi-identifier values, in the only scan of the data.
-- columns: the columns, n (rows)
SELECT $columns, COUNT(*) AS n FROM $source AS s GROUP BY $columns;

-- name: counted_tuples
-- Add up the rows behind every distinct combination of values in a table of tuples that were counted elsewhere.
-- columns: the columns, n (rows)
SELECT $columns, CAST(SUM($rows) AS BIGINT) AS n FROM $source AS s GROUP BY $columns;

-- name: total_rows
-- Add up the rows that a counted relation represents.
SELECT COALESCE(SUM(c.n), 0) AS rows FROM $counted AS c;

-- name: total_and_most_rows
-- Add up the rows that a counted relation represents, and find the most of one tuple.
SELECT COALESCE(SUM(c.n), 0) AS rows, COALESCE(MAX(c.n), 0) AS most FROM $counted AS c;

-- name: distinct_count
-- Count the distinct combinations of values in some columns of a relation.
SELECT COUNT(*) AS rows FROM (SELECT DISTINCT $columns FROM $relation AS r) AS combinations;

-- name: people
-- Count the distinct people of a relation by its unit column.
SELECT COUNT(DISTINCT $unit) AS people FROM $relation AS r;

-- name: rollup
-- Roll the frequency set up to the chosen levels of some attributes; the others keep every level.
SELECT $keys, MIN($levels), CAST(SUM($sums) AS BIGINT)
FROM $frequency_set AS f GROUP BY $keys;

-- name: copy
-- Copy some columns of a relation.
SELECT $columns FROM $source AS s;

-- name: row_count
-- Count the rows of a relation, to compare the frequency set and the release with it.
SELECT COUNT(*) AS rows FROM $relation AS r;
