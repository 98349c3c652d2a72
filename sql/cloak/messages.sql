-- name: cloak/messages
-- Put the messages in the order in which they arrive.
-- reads: points (row, unit, t, own_k, dt)
-- holes: $points relation
-- gives: arrival (from 0), row, t, own_k, deadline (t + dt)
-- engines: duckdb
SELECT ROW_NUMBER() OVER (ORDER BY t, row) - 1 AS arrival, row, t, CAST(own_k AS BIGINT) AS own_k, t + dt AS deadline
FROM $points
