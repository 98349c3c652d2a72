-- name: population/release_class_sizes
-- Count the classes of each size in a released relation and in a population, for models about all of them together.
-- reads: release (any relation that holds the quasi-identifiers, and the people's column where people are counted), population (the quasi-identifiers as the release shows them; population = rows or people)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $size figure, $population relation
-- gives: size (rows or people in a class), people (of the population, that it stands for), classes (how many are alike in both), rows (in all of these), smallest (rows)
SELECT classes.size, classes.people, COUNT(*) AS classes, SUM(classes.class_rows) AS rows, MIN(classes.class_rows) AS smallest
FROM (
  SELECT SUM(counted.size) AS size, SUM(counted.people) AS people, SUM(counted.class_rows) AS class_rows
  FROM (
    SELECT $names, $size AS size, 0 AS people, SUM(tuples.n) AS class_rows
    FROM (SELECT $quasi_identifiers, COUNT(*) AS n FROM $release AS r GROUP BY $quasi_identifiers) AS tuples
    GROUP BY $names
    UNION ALL
    SELECT $names, 0 AS size, p.population AS people, 0 AS class_rows FROM $population AS p
  ) AS counted
  GROUP BY $names
) AS classes
WHERE classes.class_rows > 0
GROUP BY classes.size, classes.people
ORDER BY size, people
