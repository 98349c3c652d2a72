-- name: attack/labels
-- List the labels that classes have of one attribute.
-- reads: classes (class, the labels, n)
-- holes: $classes relation, $label columns
-- gives: label
SELECT DISTINCT $label AS label FROM $classes AS k
