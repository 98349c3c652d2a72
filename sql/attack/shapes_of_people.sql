-- name: attack/shapes_of_people
-- Count everybody's rows in each class by what they look like, as attack/shapes prints it.
-- reads: numbered (class, the columns)
-- holes: $numbered relation, $values columns, $unit columns
-- gives: class, value, person, n (rows)
-- engines: duckdb
SELECT valued.class, valued.value, valued.person, COUNT(*) AS n
FROM (
  SELECT r.class, $unit AS person, CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value FROM $numbered AS r
) AS valued
GROUP BY valued.class, valued.value, valued.person
