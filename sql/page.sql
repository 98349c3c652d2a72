-- What the page shows of a source.

-- name: classes
-- Count the rows of every class of a node, and its size, which may be people.
-- gives: the levels, n (rows), size (rows, or people where these are counted)
SELECT $levels, SUM(f.n) AS n, $size AS size FROM $frequency_set AS f GROUP BY $levels;

-- name: label_sizes
-- Count the rows of every label of one column by the size of the class that they are in.
-- gives: the label's code, size (of a class), n (rows in classes of this size)
SELECT $label, c.size, SUM(c.n) AS n FROM $classes AS c GROUP BY $label, c.size;

-- name: some_rows
-- Look at a few rows of a release, from here and there in it: one of every so many.
SELECT $columns
FROM (SELECT ROW_NUMBER() OVER () AS row_id, $named FROM $release AS r) AS numbered
WHERE MOD(numbered.row_id, $stride) = 0
LIMIT $rows;
