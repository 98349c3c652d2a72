-- name: attack/copied
-- Copy what somebody reads of a table, its rows numbered in the order in which they are read.
-- reads: source (any relation)
-- holes: $source relation, $texts columns, $natives columns
-- gives: row_id, the columns, those that are shown as text first
SELECT ROW_NUMBER() OVER () AS row_id, CAST($texts AS TEXT), $natives FROM $source AS s
