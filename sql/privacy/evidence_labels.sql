-- name: privacy/evidence_labels
-- List the values of a quasi-identifier in evidence, how each prints, and the label that it has.
-- reads: evidence (the value, the label)
-- holes: $evidence relation, $value columns, $label columns
-- gives: value, text, label
SELECT DISTINCT $value AS value, CAST($value AS TEXT) AS text, CAST($label AS TEXT) AS label FROM $evidence AS e
