-- name: attack/half_rows
-- Number the rows of each group of a half in an order, with the class of each, as attack/classes numbers them.
-- reads: release (a copy of the half with the rows)
-- holes: $release relation, $labels columns, $shared columns, $order columns
-- gives: class, key (of the group), place (from 1)
-- engines: duckdb
SELECT
  DENSE_RANK() OVER (ORDER BY $labels) AS class,
  [COALESCE('=' || CAST($shared AS TEXT), '')] AS key,
  ROW_NUMBER() OVER (PARTITION BY $shared ORDER BY $order) AS place
FROM $release AS r
