-- name: attack/known_values
-- List the distinct values that are known of people, each with one of its rows as its number.
-- reads: people (a copy of a table)
-- holes: $people relation, $columns columns
-- gives: target (a row's number), the columns, n (rows)
SELECT MIN(p.row_id) AS target, $columns, COUNT(*) AS n FROM $people AS p GROUP BY $columns
