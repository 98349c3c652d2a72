-- name: attack/values
-- List what is known of the targets' values of one attribute, and how each prints.
-- reads: targets (target, and what is known of each)
-- holes: $targets relation, $value columns
-- gives: value, text
SELECT DISTINCT $value AS value, CAST($value AS TEXT) AS text FROM $targets AS t
