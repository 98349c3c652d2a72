-- name: privacy/release_class_sizes
-- Count the classes of each size in a released relation, for models about all of them together.
-- reads: release (any relation that holds the quasi-identifiers, and the people's column where people are counted)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $size figure
-- gives: size (rows or people in a class), people (0, of no population), classes (how many have that size), rows (in all of these), smallest (rows)
SELECT classes.size, 0 AS people, COUNT(*) AS classes, SUM(classes.class_rows) AS rows, MIN(classes.class_rows) AS smallest
FROM (
  SELECT $size AS size, SUM(tuples.n) AS class_rows
  FROM (SELECT $quasi_identifiers, COUNT(*) AS n FROM $release AS r GROUP BY $quasi_identifiers) AS tuples
  GROUP BY $names
) AS classes
GROUP BY classes.size
ORDER BY size
