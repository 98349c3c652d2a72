-- name: risk/constant_columns
-- Of the values of a column that several rows have, count those with one value alone, or none, in each of other columns.
-- reads: source (the raw table, any shape)
-- holes: $key columns, $columns columns, $values columns, $source relation
-- gives: repeated (values of the key in two rows or more), per column how many of these have no two values
SELECT COUNT(*) AS repeated, SUM($values)
FROM (
  SELECT CASE WHEN MIN($values) = MAX($values) OR MIN($values) IS NULL THEN 1 ELSE 0 END
  FROM (SELECT $key AS key_value, $columns FROM $source AS s) AS cells
  WHERE NOT cells.key_value IS NULL
  GROUP BY cells.key_value
  HAVING COUNT(*) >= 2
) AS key_values
