-- name: profile/column
-- Describe one column by the classes of rows that its values make; NULL is a value.
-- reads: source (the raw table, any shape)
-- holes: $column columns, $source relation, $small value
-- gives: distinct_values, null_rows, unique_rows, unique_values (unique rows that are not NULL), smallest_class, largest_class, small_rows (rows in classes below $small)
SELECT
  COUNT(*) AS distinct_values,
  COALESCE(SUM(n) FILTER (WHERE value IS NULL), 0) AS null_rows,
  COUNT(*) FILTER (WHERE n = 1) AS unique_rows,
  COUNT(*) FILTER (WHERE n = 1 AND NOT value IS NULL) AS unique_values,
  MIN(n) AS smallest_class,
  MAX(n) AS largest_class,
  COALESCE(SUM(n) FILTER (WHERE n < $small), 0) AS small_rows
FROM (
  SELECT value, COUNT(*) AS n FROM (SELECT $column AS value FROM $source) AS cells GROUP BY value
) AS classes
