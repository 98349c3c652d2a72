-- What the page shows of a source and its releases.

-- name: classes
-- Count the rows of every class of a node, and its size in rows or people.
-- columns: the levels, n (rows), size (rows, or people with a unit)
SELECT $levels, SUM(f.n) AS n, $size AS size FROM $frequency_set AS f GROUP BY $levels;

-- name: label_sizes
-- Count the rows of every label of one column by the size of their class.
-- columns: the label's code, size (of a class), n (rows in classes of this size)
SELECT $label, c.size, SUM(c.n) AS n FROM $classes AS c GROUP BY $label, c.size;

-- name: people_sizes
-- Count the people by the size of the smallest class that one of their rows is in.
-- columns: size (people in a class), people
SELECT p.size, COUNT(*) AS people
FROM (
  SELECT m.person, MIN(m.size) AS size
  FROM (
    SELECT d.person, COUNT(*) OVER (PARTITION BY $levels) AS size
    FROM (SELECT DISTINCT $levels, $unit AS person FROM $frequency_set AS f) AS d
  ) AS m
  GROUP BY m.person
) AS p
GROUP BY p.size;

-- name: some_rows
-- Return a few rows from different parts of a release, at a fixed interval.
SELECT $columns
FROM (SELECT ROW_NUMBER() OVER () AS row_id, $named FROM $release AS r) AS numbered
WHERE MOD(numbered.row_id, $stride) = 0
LIMIT $rows;

-- name: value_counts
-- Count the rows of every value of a column.
-- columns: value, n (rows), size (rows)
SELECT c.value, COUNT(*) AS n, COUNT(*) AS size FROM (SELECT $column AS value FROM $source AS s) AS c GROUP BY c.value;

-- name: value_people
-- Count the rows and the people of every value of a column.
-- columns: value, n (rows), size (people)
SELECT c.value, COUNT(*) AS n, COUNT(DISTINCT c.unit) AS size
FROM (SELECT $column AS value, $unit AS unit FROM $source AS s) AS c
GROUP BY c.value;

-- name: frequent_values
-- Return the values that most people have, or most rows without a unit.
-- columns: value, n (rows), size (people or rows)
SELECT v.value, v.n, v.size FROM $values AS v ORDER BY v.size DESC, v.n DESC, v.value LIMIT $most;

-- name: value_sizes
-- Count the values of a column by the number of their people, or of their rows without a unit.
-- columns: size (people or rows), labels (values), n (rows)
SELECT v.size, COUNT(*) AS labels, SUM(v.n) AS n FROM $values AS v GROUP BY v.size;

-- name: spread
-- Find the mean of the numbers in a column, and the mean of their squares.
SELECT SUM(x.number * x.n) / SUM(x.n) AS mean, SUM(x.number * x.number * x.n) / SUM(x.n) AS mean_square
FROM (SELECT CAST(v.value AS DOUBLE) AS number, v.n FROM $values AS v WHERE NOT v.value IS NULL) AS x;

-- name: number_bins
-- Assign the numbers of a column to intervals of one width.
-- columns: value, n (rows), size (people or rows), bin (0 begins at 0)
SELECT v.value, v.n, v.size, FLOOR(CAST(v.value AS DOUBLE) / $width) AS bin FROM $values AS v WHERE NOT v.value IS NULL;

-- name: month_bins
-- Assign the dates of a column to months.
-- columns: value, n (rows), size (people or rows), bin (months since the year 0)
SELECT v.value, v.n, v.size, EXTRACT(YEAR FROM v.value) * 12 + EXTRACT(MONTH FROM v.value) - 1 AS bin
FROM $values AS v
WHERE NOT v.value IS NULL;

-- name: bin_rows
-- Count the rows of every interval.
-- columns: bin, n, size (rows)
SELECT b.bin, SUM(b.n) AS n, SUM(b.n) AS size FROM $bins AS b GROUP BY b.bin;

-- name: bin_people
-- Count the rows and the people of every interval.
-- columns: bin, n (rows), size (people)
SELECT b.bin, COUNT(*) AS n, COUNT(DISTINCT c.unit) AS size
FROM (SELECT $column AS value, $unit AS unit FROM $source AS s) AS c
JOIN $bins AS b ON b.value = c.value
GROUP BY b.bin;
