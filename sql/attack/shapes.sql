-- name: attack/shapes
-- List what rows of each class look like, the columns taken together as one text, with one row and how many there are.
-- reads: numbered (row_id, class, the columns)
-- holes: $numbered relation, $values columns
-- gives: class, value, row_id, n (rows)
-- engines: duckdb
SELECT valued.class, valued.value, MIN(valued.row_id) AS row_id, COUNT(*) AS n
FROM (
  SELECT r.row_id, r.class, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value FROM $numbered AS r
) AS valued
GROUP BY valued.class, valued.value
