-- name: cloak/arrivals
-- List what the stream must know of its messages, in the order of arrival.
-- reads: messages (arrival, t, own_k, deadline)
-- holes: $messages relation
-- gives: own_k, t, deadline
-- engines: duckdb
SELECT own_k, t, deadline FROM $messages ORDER BY arrival
