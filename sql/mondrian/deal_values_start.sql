-- name: mondrian/deal_values_start
-- Put all tuples into one partition, the rows of each in the order of its sensitive values, and all in one to be dealt.
-- reads: frequency_set (one row per distinct tuple and combination of sensitive values; n = rows; integer columns)
-- holes: $columns columns, $codes columns, $values columns, $order columns, $frequency_set relation
-- gives: the columns, n, first and last (places from 1 among all the tuple's rows), place, class (0)
-- engines: duckdb
SELECT $columns, n, until - n + 1 AS first, until AS last, place, CAST(0 AS BIGINT) AS class
FROM (
  SELECT
    $columns, CAST(n AS BIGINT) AS n, ROW_NUMBER() OVER (ORDER BY $order) AS place,
    CAST(SUM(n) OVER (PARTITION BY $codes ORDER BY $values ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS until
  FROM $frequency_set
) AS counted
