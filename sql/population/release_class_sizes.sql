-- name: population/release_class_sizes
-- Count the classes of each size in a released relation and in a population, for models about all of them together.
-- reads: release (any relation that holds the quasi-identifiers, and the people's column where people are counted), population (the quasi-identifiers as the release shows them; population = rows or people)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $size figure, $population relation
-- gives: size (rows or people in a class), people (of the population, that it stands for), classes (how many are alike in both), rows (in all of these), smallest (rows)
SELECT classes.size, classes._people AS people, COUNT(*) AS classes, SUM(classes._class_rows) AS rows, MIN(classes._class_rows) AS smallest
FROM (
  SELECT SUM(counted.size) AS size, SUM(counted._people) AS _people, SUM(counted._class_rows) AS _class_rows
  FROM (
    SELECT $names, $size AS size, 0 AS _people, SUM(tuples.n) AS _class_rows
    FROM (SELECT $quasi_identifiers, COUNT(*) AS n FROM $release AS r GROUP BY $quasi_identifiers) AS tuples
    GROUP BY $names
    UNION ALL
    SELECT $names, 0 AS size, p.population AS _people, 0 AS _class_rows FROM $population AS p
  ) AS counted
  GROUP BY $names
) AS classes
WHERE classes._class_rows > 0
GROUP BY classes.size, classes._people
ORDER BY size, people
