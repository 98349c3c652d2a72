-- name: population/class_summary
-- Say whether a released relation meets a model that compares its classes with those of a population.
-- reads: release (any relation that holds the quasi-identifiers), population (the quasi-identifiers as the release shows them; population = rows or people)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $rows figure, $population relation, $every_class value, $safe predicate, $achieved figure, $of_class figure
-- gives: rows, classes, smallest_class, unsafe_classes, unsafe_rows, achieved (the model's own figure, by the class that is worst)
SELECT
  COALESCE(SUM(classes.size), 0) AS rows,
  COUNT(*) FILTER (WHERE classes.size > 0) AS classes,
  MIN(classes.size) FILTER (WHERE classes.size > 0) AS smallest_class,
  COUNT(*) FILTER (WHERE NOT classes.safe) AS unsafe_classes,
  COALESCE(SUM(classes.size) FILTER (WHERE NOT classes.safe), 0) AS unsafe_rows,
  $achieved AS achieved
FROM (
  SELECT SUM(counted.size) AS size, COALESCE($safe, FALSE) AS safe, $of_class AS of_class
  FROM (
    SELECT $names, SUM(tuples.n) AS size, $rows AS n, 0 AS population
    FROM (SELECT $quasi_identifiers, COUNT(*) AS n FROM $release AS r GROUP BY $quasi_identifiers) AS tuples
    GROUP BY $names
    UNION ALL
    SELECT $names, 0 AS size, 0 AS n, p.population FROM $population AS p
  ) AS counted
  GROUP BY $names
) AS classes
WHERE classes.size > 0 OR $every_class
