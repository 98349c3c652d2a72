-- name: core/local_figures
-- Add up what the classes of a local recoding release and cost; classes that show the same are one.
-- reads: classes (class, n = rows, label_j, leaves_j = leaves that a cell may stand for, per attribute)
-- holes: $classes relation, $labels columns, $leaves columns
-- gives: classes, released_rows, smallest_class (NULL without classes), squares, one sum of n * leaves per attribute
SELECT
  COUNT(*) AS classes,
  COALESCE(SUM(n), 0) AS released_rows,
  MIN(n) AS smallest_class,
  COALESCE(SUM(n * n), 0) AS squares,
  COALESCE(SUM($leaves), 0)
FROM (SELECT SUM(n) AS n, SUM(n * $leaves) FROM $classes GROUP BY $labels) AS released
