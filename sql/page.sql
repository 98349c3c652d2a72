-- What the page shows of a source and its releases.

-- name: classes
-- Count the rows of every class of a node, and its size in rows or people.
-- columns: the levels, n (rows), size (rows, or people if there is a unit)
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
