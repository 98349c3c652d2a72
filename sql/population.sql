-- Models that compare a release with a population: k-map, delta-presence and journalist risk.

-- name: totals
-- Add up the rows of a table and the rows of its population.
SELECT COALESCE(SUM(f.n), 0) AS rows, COALESCE(SUM(f.population), 0) AS population FROM $frequency_set AS f;

-- name: sampled
-- Keep the tuples that occur in a table, and add the number of equal population rows to one row of each tuple.
SELECT $columns, ranked.n, CASE WHEN ranked._place = 1 THEN ranked._alike ELSE 0 END AS population
FROM (
  SELECT
    $columns, f.n,
    ROW_NUMBER() OVER (PARTITION BY $keys ORDER BY f.n DESC) AS _place,
    SUM(f.population) OVER (PARTITION BY $keys) AS _alike
  FROM $frequency_set AS f
) AS ranked
WHERE ranked.n > 0;

-- name: people_once
-- Count every person of a population at only one tuple, so that sums over tuples count everybody once.
-- columns: the columns, n (1, or 0 if the person is counted at another tuple)
SELECT
  $columns,
  CASE WHEN ROW_NUMBER() OVER (PARTITION BY $unit ORDER BY $keys) = 1 THEN 1 ELSE 0 END AS n
FROM $tuples AS t;

-- name: unmatched
-- Count the tuples with more rows or people in a table than in the population that the table is a sample of.
SELECT COUNT(*) AS tuples FROM (SELECT $keys FROM $frequency_set AS f GROUP BY $keys HAVING COALESCE($more, FALSE)) AS unmatched;

-- name: release_class_sizes
-- Count the classes of each size in a released relation and in a population, for models that judge all classes together.
-- columns: size (rows or people in a class), people (of the population, whom the class represents), classes (with this size and this number of people), rows (in all of these), smallest (rows)
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
ORDER BY size, people;

-- name: class_summary
-- Check whether a released relation meets a model that compares its classes with those of a population.
-- columns: rows, classes, smallest_class, unsafe_classes, unsafe_rows, achieved (the model's own figure, for the worst class)
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
WHERE classes.size > 0 OR $every_class;

-- name: node_test
-- Count the rows that one lattice node would leave in classes that do not meet the privacy model; a class of population rows alone counts as one row.
SELECT $node AS node, COALESCE(SUM(at_risk.size), 0) AS rows_at_risk
FROM (
  SELECT GREATEST(SUM(f.n), 1) AS size FROM $frequency_set AS f GROUP BY $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk;

-- name: shown
-- Count the rows of a population behind the tuples of a local recoding's classes, by the labels of the classes.
SELECT $shown, CAST(SUM(tuples.population) AS BIGINT) AS kanon_population
FROM (
  SELECT $labels, $keys, MAX(a.population) AS population
  FROM $assigned AS a
  INNER JOIN $classes AS k ON k.class = a.class
  GROUP BY $labels, $keys
) AS tuples
GROUP BY $labels;

-- name: counts
-- Return a population as it was written to a file, with its row counts converted back to numbers.
SELECT $columns, CAST(w.kanon_population AS BIGINT) AS kanon_population FROM $written AS w;

-- name: labels
-- List the labels of a released column, as text.
SELECT CAST($column AS TEXT) AS label FROM $release AS r GROUP BY $column;
