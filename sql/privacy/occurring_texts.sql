-- name: privacy/occurring_texts
-- List the values of a sensitive column as they print.
-- reads: reference (one row per value of the column)
-- holes: $reference relation
-- gives: value (text)
SELECT CAST(r.raw AS TEXT) AS value FROM $reference AS r
