-- name: population/shown
-- Count the rows of a population that stand by the tuples of a local recoding's classes, by what the classes show.
-- reads: assigned (class, a tuple's level-0 codes, population = the rows equal to it), classes (class, and what they show)
-- holes: $assigned relation, $classes relation, $keys columns, $labels columns, $shown columns
-- gives: what is shown, by the release's names; kanon_population; a tuple that is parted counts once where its parts show the same
SELECT $shown, CAST(SUM(tuples.population) AS BIGINT) AS kanon_population
FROM (
  SELECT $labels, $keys, MAX(a.population) AS population
  FROM $assigned AS a
  INNER JOIN $classes AS k ON k.class = a.class
  GROUP BY $labels, $keys
) AS tuples
GROUP BY $labels
