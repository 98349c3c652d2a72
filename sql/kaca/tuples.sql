-- name: kaca/tuples
-- Number the distinct tuples, each a class of its own; values without a leaf, which look alike, are one.
-- reads: frequency_set (one row per distinct combination of raw values; n = rows; codes per attribute and level)
-- holes: $frequency_set relation, $values columns, $codes columns
-- gives: tuple (from 0), class (the same), piece (0: all are in one), the values' codes, those above, n (rows)
-- engines: duckdb
SELECT
  ROW_NUMBER() OVER (ORDER BY $values) - 1 AS tuple,
  ROW_NUMBER() OVER (ORDER BY $values) - 1 AS class,
  0 AS piece,
  $values,
  MIN($codes),
  CAST(SUM(n) AS BIGINT) AS n
FROM $frequency_set
GROUP BY $values
