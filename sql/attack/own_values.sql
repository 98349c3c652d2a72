-- name: attack/own_values
-- Count the rows of a table by what is known of them and by their value, as attack/shapes prints it.
-- reads: people (a copy of a table)
-- holes: $people relation, $columns columns, $values columns
-- gives: target (as in attack/known_values), person (one of their rows), value, n
-- engines: duckdb
SELECT valued.target, MIN(valued.row_id) AS person, valued.value, COUNT(*) AS n
FROM (
  SELECT
    p.row_id,
    MIN(p.row_id) OVER (PARTITION BY $columns) AS target,
    CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value
  FROM $people AS p
) AS valued
GROUP BY valued.target, valued.value
