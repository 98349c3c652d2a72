-- name: attack/keyed
-- Put what is known of people into one key each, which NULL has a place in too.
-- reads: people (rows of a copy)
-- holes: $people relation, $id columns, $columns columns
-- gives: id, key
-- engines: duckdb
SELECT $id AS id, [COALESCE('=' || CAST($columns AS TEXT), '')] AS key FROM $people AS p
