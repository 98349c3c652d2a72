-- name: attack/own_values_of_people
-- List the values of everybody by what is known of them, as attack/shapes prints them; somebody may have several.
-- reads: people (a copy of a table)
-- holes: $people relation, $columns columns, $values columns, $unit columns
-- gives: target (as in attack/known_values), person, value, n (1)
-- engines: duckdb
SELECT DISTINCT valued.target, valued.person, valued.value, 1 AS n
FROM (
  SELECT
    MIN(p.row_id) OVER (PARTITION BY $columns) AS target,
    $unit AS person,
    CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value
  FROM $people AS p
) AS valued
