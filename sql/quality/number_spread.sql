-- name: quality/number_spread
-- Take the mean of an attribute's numbers, and add up the squares of how far its rows are from it.
-- reads: frequency_set (n = rows, a column of codes), numbers (code_0, number)
-- holes: $frequency_set relation, $value columns, $numbers relation
-- gives: mean (NULL without a number), squares
SELECT MIN(held.mean) AS mean, COALESCE(SUM(held.n * (held.number - held.mean) * (held.number - held.mean)), 0) AS squares
FROM (
  SELECT f.n, v.number, SUM(f.n * v.number) OVER () / NULLIF(SUM(f.n) OVER (), 0) AS mean
  FROM (SELECT $value AS value, f.n FROM $frequency_set AS f) AS f
  JOIN $numbers AS v ON v.code_0 = f.value
  WHERE NOT v.number IS NULL
) AS held
