-- name: privacy/reference
-- Count each value of a sensitive column in the whole table, and those before it in their order.
-- reads: counted (the column, or its codes and the column; n = rows, or the people to be counted)
-- holes: $counted relation, $value columns, $raw columns, $rows figure
-- gives: value (as classes have it), raw (what it is), overall_c, overall_c_to (rows up to the value), overall_size (all rows), overall_values, place (from 1)
SELECT
  counts.value AS value,
  counts.raw AS raw,
  counts.overall_c AS overall_c,
  CAST(SUM(counts.overall_c) OVER (ORDER BY counts.value ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS overall_c_to,
  CAST(SUM(counts.overall_c) OVER () AS BIGINT) AS overall_size,
  COUNT(*) OVER () AS overall_values,
  ROW_NUMBER() OVER (ORDER BY counts.value) AS place
FROM (
  SELECT $value AS value, $raw AS raw, CAST($rows AS BIGINT) AS overall_c FROM $counted AS f GROUP BY $value, $raw
) AS counts
