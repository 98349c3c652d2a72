-- name: wildcard/fits
-- Count the original rows that every released row of one pattern fits.
-- reads: frequency_set (original tuples: n rows, pattern and class NULL; released rows: n = 0, pattern, class)
-- holes: $node value, $frequency_set relation, $levels columns, $safe predicate
-- gives: class, fits (original rows), safe (whether they meet the privacy model)
-- engines: duckdb
SELECT
  UNNEST(LIST(class) FILTER (WHERE NOT class IS NULL)) AS class,
  CAST(SUM(n) AS BIGINT) AS fits,
  COALESCE($safe, FALSE) AS safe
FROM $frequency_set
WHERE pattern IS NULL OR pattern = $node
GROUP BY $levels
