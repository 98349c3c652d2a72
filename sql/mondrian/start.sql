-- name: mondrian/start
-- Put all tuples into one partition.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $columns columns, $frequency_set relation
-- gives: the level-0 columns, n, class (0)
-- engines: duckdb
SELECT $columns, n, CAST(0 AS BIGINT) AS class FROM $frequency_set
