-- name: attack/sensitive_slots
-- Number the rows of each class, with their sensitive values.
-- reads: placed (row_id, home), copied (a copy of a table)
-- holes: $placed relation, $copied relation, $columns columns
-- gives: home, slot (from 1), the columns
SELECT p.home, ROW_NUMBER() OVER (PARTITION BY p.home ORDER BY p.row_id) AS slot, $columns
FROM $placed AS p JOIN $copied AS r ON r.row_id = p.row_id
