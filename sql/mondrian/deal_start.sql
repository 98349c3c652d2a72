-- name: mondrian/deal_start
-- Put all tuples into one partition, whose rows have an order in which they are dealt.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $columns columns, $order columns, $frequency_set relation
-- gives: the level-0 columns, n, first (1) and last (n) of the tuple's rows, place, class (0)
-- engines: duckdb
SELECT
  $columns, n, CAST(1 AS BIGINT) AS first, CAST(n AS BIGINT) AS last, ROW_NUMBER() OVER (ORDER BY $order) AS place,
  CAST(0 AS BIGINT) AS class
FROM $frequency_set
