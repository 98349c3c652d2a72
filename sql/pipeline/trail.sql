-- name: pipeline/trail
-- List the rows of an audit trail, the first one first.
-- reads: trail (as pipeline/trail_row gives them)
-- holes: $trail relation, $columns columns
-- gives: the columns
SELECT $columns FROM $trail AS t ORDER BY t.number
