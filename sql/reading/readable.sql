-- name: reading/readable
-- Count the values of a column that can be read in one way, and find the first that cannot.
-- reads: source (the rows of a file, in its order)
-- holes: $column columns, $source relation, $missing predicate, $fits predicate
-- gives: filled, fitting, first_row (the first, from 1, that does not fit), alike (whether all that do not fit are one value)
-- engines: duckdb
SELECT
  COUNT(*) AS filled,
  COUNT(CASE WHEN v.fits THEN 1 END) AS fitting,
  MIN(CASE WHEN NOT v.fits THEN v.place END) AS first_row,
  MIN(CASE WHEN NOT v.fits THEN v.value END) = MAX(CASE WHEN NOT v.fits THEN v.value END) AS alike
FROM (
  SELECT l.value, l.place, COALESCE($fits, FALSE) AS fits
  FROM (SELECT $column AS value, ROW_NUMBER() OVER () AS place FROM $source AS s) AS l
  WHERE l.value IS NOT NULL AND NOT COALESCE($missing, FALSE)
) AS v
