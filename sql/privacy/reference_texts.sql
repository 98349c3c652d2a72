-- name: privacy/reference_texts
-- Give the values of a reference as texts, as a file of texts has them.
-- reads: reference (one row per value of a sensitive column)
-- holes: $reference relation, $figures columns
-- gives: value (as text), and the figures as in the reference
SELECT CAST(r.value AS TEXT) AS value, $figures
FROM $reference AS r
