-- name: attack/parts
-- Tell which part of its class each row stands in, were one attribute a level lower.
-- reads: placed (row_id, home), copied (a copy of a table), mapping (value: a key, own, below)
-- holes: $placed relation, $copied relation, $mapping relation, $value columns
-- gives: row_id, home, part
SELECT p.row_id, p.home, m.below AS part
FROM $placed AS p
JOIN (SELECT r.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $copied AS r) AS v ON v.row_id = p.row_id
JOIN $mapping AS m ON m.value = v.value
