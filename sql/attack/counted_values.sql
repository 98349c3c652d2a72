-- name: attack/counted_values
-- Count the rows of each class by the values of columns, taken together as one text; NULL is a value.
-- reads: numbered (row_id, class, the columns)
-- holes: $numbered relation, $values columns
-- gives: class, value, n (rows)
-- engines: duckdb
SELECT valued.class, valued.value, COUNT(*) AS n
FROM (
  SELECT r.class, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value FROM $numbered AS r
) AS valued
GROUP BY valued.class, valued.value
