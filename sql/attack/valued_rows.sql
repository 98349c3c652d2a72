-- name: attack/valued_rows
-- Show every row of a table as what is known of it and what else it looks like, as attack/shapes prints it.
-- reads: people (a copy of a table)
-- holes: $people relation, $columns columns, $values columns
-- gives: row_id, target (as in attack/known_values), value
-- engines: duckdb
SELECT
  p.row_id,
  MIN(p.row_id) OVER (PARTITION BY $columns) AS target,
  CAST([COALESCE('=' || CAST($values AS TEXT), '')] AS TEXT) AS value
FROM $people AS p
