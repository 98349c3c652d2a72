-- Count queries answered from a release and from its source.

-- name: codes_of_columns
-- Count the rows by the codes of some columns, from which those of fewer columns are counted.
SELECT $codes, 0 AS nothing, CAST(SUM(c.n) AS BIGINT) AS n FROM $coded AS c GROUP BY $codes;

-- name: combined
-- Count the rows by the codes of up to three columns; `nothing` fills in for a column that is not queried.
SELECT $subset AS subset, $first AS first, $second AS second, $third AS third, CAST(SUM(c.n) AS BIGINT) AS n
FROM $coded AS c
GROUP BY $first, $second, $third;

-- name: weights
-- Compute the probability that a cell of each code satisfies a query's predicate on one of its columns.
SELECT p.query, p.place, c.code, SUM(c.chance) AS weight
FROM $predicates AS p
JOIN $chances AS c ON c.attribute = p.attribute AND c.part = p.part
GROUP BY p.query, p.place, c.code;

-- name: answers
-- Answer count queries: every combination of codes counts with the probability that it satisfies the query.
SELECT q.query, SUM(r.n * a.weight * b.weight * c.weight) AS answer
FROM $asked AS q
JOIN $combined AS r ON r.subset = q.subset
JOIN $weights AS a ON a.query = q.query AND a.place = 1 AND a.code = r.first
JOIN $weights AS b ON b.query = q.query AND b.place = 2 AND b.code = r.second
JOIN $weights AS c ON c.query = q.query AND c.place = 3 AND c.code = r.third
GROUP BY q.query;

-- name: pairs
-- Select the combinations of the first subsets, which are pairs of columns.
SELECT c.subset, c.first, c.second, c.n FROM $combined AS c WHERE c.subset < $pairs;

-- name: texts
-- Select the cells of a table as text.
SELECT CAST($cells AS TEXT) FROM $table AS s;

-- name: counted_codes
-- Count the rows of each tuple of codes; the column `nothing` fills in for queries on fewer columns.
SELECT $codes, 0 AS nothing, COUNT(*) AS n FROM $coded AS c GROUP BY $codes;

-- name: cells
-- Count the rows of each cell of a column, as text.
SELECT CAST($cell AS TEXT) AS cell, COUNT(*) AS n FROM $table AS s GROUP BY CAST($cell AS TEXT);
