-- name: profile/column
-- Describe one column by the classes of rows that its values make; NULL is a value.
-- reads: source (the raw table, any shape)
-- holes: $column columns, $source relation, $small value
-- gives: distinct_values, null_rows, unique_rows, unique_values (unique rows that are not NULL), smallest_class, largest_class, small_rows (rows in classes below $small), squares (of the classes' rows, added up)
SELECT
  COUNT(*) AS distinct_values,
  COALESCE(SUM(classes.n) FILTER (WHERE classes.value IS NULL), 0) AS null_rows,
  COUNT(*) FILTER (WHERE classes.n = 1) AS unique_rows,
  COUNT(*) FILTER (WHERE classes.n = 1 AND NOT classes.value IS NULL) AS unique_values,
  MIN(classes.n) AS smallest_class,
  MAX(classes.n) AS largest_class,
  COALESCE(SUM(classes.n) FILTER (WHERE classes.n < $small), 0) AS small_rows,
  COALESCE(SUM(classes.n * classes.n), 0) AS squares
FROM (
  SELECT cells.value, COUNT(*) AS n FROM (SELECT $column AS value FROM $source AS s) AS cells GROUP BY cells.value
) AS classes
