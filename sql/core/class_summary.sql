-- name: core/class_summary
-- Say whether a released relation meets the model: its rows, its classes, and how many of them do not.
-- reads: release (any relation that holds the quasi-identifiers)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $safe predicate, $achieved figure, $of_class figure, $frequent figure, $most figure
-- gives: rows, classes, smallest_class, unsafe_classes, unsafe_rows, achieved (the model's own figure, by the class that is worst), frequent (the rows with the most frequent value of their class)
SELECT
  COALESCE(SUM(classes.size), 0) AS rows,
  COUNT(*) AS classes,
  MIN(classes.size) AS smallest_class,
  COUNT(*) FILTER (WHERE NOT classes.safe) AS unsafe_classes,
  COALESCE(SUM(classes.size) FILTER (WHERE NOT classes.safe), 0) AS unsafe_rows,
  $achieved AS achieved,
  $frequent AS frequent
FROM (
  SELECT SUM(tuples.n) AS size, COALESCE($safe, FALSE) AS safe, $of_class AS of_class, $most AS most
  FROM (SELECT $quasi_identifiers, COUNT(*) AS n FROM $release AS r GROUP BY $quasi_identifiers) AS tuples
  GROUP BY $names
) AS classes
