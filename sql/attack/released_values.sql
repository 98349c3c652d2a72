-- name: attack/released_values
-- Show every row of a release as its class and what else it looks like, as attack/shapes prints it.
-- reads: numbered (row_id, class, the columns)
-- holes: $numbered relation, $values columns
-- gives: row_id, class, the columns, value
-- engines: duckdb
SELECT r.row_id, r.class, $values, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value
FROM $numbered AS r
