-- name: privacy/reference_texts
-- Give the values of a reference as texts, as a file of texts has them.
-- reads: reference (one row per value of a sensitive column)
-- holes: $reference relation
-- gives: value (as text), raw, overall_c, overall_c_to, overall_size, overall_values, place; as in the reference
SELECT
  CAST(r.value AS TEXT) AS value, r.raw AS raw, r.overall_c AS overall_c, r.overall_c_to AS overall_c_to,
  r.overall_size AS overall_size, r.overall_values AS overall_values, r.place AS place
FROM $reference AS r
