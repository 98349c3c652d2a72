-- name: kaca_tuples
-- Number the distinct tuples, and the regions outside of which no tuple of theirs may be merged.
-- reads: frequency_set (one row per distinct tuple, or several where values without a leaf look alike)
-- holes: $frequency_set relation, $values columns, $levels columns, $region columns
-- gives: tuple (from 0), region, the values' codes, the codes above them, n (rows)
-- engines: duckdb
SELECT
  ROW_NUMBER() OVER (ORDER BY $values) - 1 AS tuple,
  DENSE_RANK() OVER (ORDER BY MIN($region)) AS region,
  $values,
  MIN($levels),
  CAST(SUM(n) AS BIGINT) AS n
FROM $frequency_set
GROUP BY $values
