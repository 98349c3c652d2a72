-- name: risk/values
-- List some distinct values of one column as texts, drawn by their digest, with the rows that have them; NULL left out.
-- reads: source (the raw table, any shape)
-- holes: $column columns, $source relation, $most value
-- gives: value, n (rows)
SELECT counted.value, counted.n
FROM (
  SELECT cells.value, COUNT(*) AS n, MD5(cells.value) AS digest
  FROM (SELECT CAST($column AS TEXT) AS value FROM $source AS s) AS cells
  WHERE NOT cells.value IS NULL
  GROUP BY cells.value
) AS counted
ORDER BY counted.digest
LIMIT $most
