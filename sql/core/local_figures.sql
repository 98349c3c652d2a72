-- name: core/local_figures
-- Add up what the classes of a local recoding release and cost; classes that show the same are one.
-- reads: classes (class, n = rows, label_j, leaves_j = leaves that a cell may stand for, per attribute)
-- holes: $classes relation, $labels columns, $leaves columns
-- gives: classes, released_rows, smallest_class (NULL without classes), squares, one sum of n * leaves per attribute
SELECT
  COUNT(*) AS classes,
  COALESCE(SUM(released.n), 0) AS released_rows,
  MIN(released.n) AS smallest_class,
  COALESCE(SUM(released.n * released.n), 0) AS squares,
  COALESCE(SUM($leaves), 0)
FROM (SELECT SUM(k.n) AS n, SUM(k.n * $leaves) FROM $classes AS k GROUP BY $labels) AS released
