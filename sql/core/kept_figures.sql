-- name: core/kept_figures
-- Count the values of a column that a release would keep as it is, and the different ones, in all rows.
-- reads: source (the raw table, any shape)
-- holes: $number value, $column columns, $source relation
-- gives: number (of the column), held (rows with a value), different (values)
SELECT $number AS number, COALESCE(SUM(counted.n), 0) AS held, COUNT(*) AS different
FROM (
  SELECT cells.value, COUNT(*) AS n
  FROM (SELECT $column AS value FROM $source AS s) AS cells
  WHERE NOT cells.value IS NULL
  GROUP BY cells.value
) AS counted
