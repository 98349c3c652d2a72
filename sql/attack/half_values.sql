-- name: attack/half_values
-- Say which places of its group each value of a half takes in an order.
-- reads: half (a copy of the half with the sensitive values, and how many rows have each)
-- holes: $half relation, $shared columns, $value columns, $count columns, $order columns
-- gives: key (of the group), value (a key), first, last (from 1)
-- engines: duckdb
SELECT h.key, h.value, h.last - h.n + 1 AS first, h.last
FROM (
  SELECT
    [COALESCE('=' || CAST($shared AS TEXT), '')] AS key,
    COALESCE('=' || CAST($value AS TEXT), '') AS value,
    CAST($count AS BIGINT) AS n,
    SUM(CAST($count AS BIGINT)) OVER (PARTITION BY $shared ORDER BY $order) AS last
  FROM $half AS h
) AS h
