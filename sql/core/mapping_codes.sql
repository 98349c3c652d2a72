-- name: core/mapping_codes
-- Take of a mapping table what does not depend on the column's type: the codes, and every value as text.
-- reads: mapping (value, code_0 … code_h)
-- holes: $mapping relation, $codes columns
-- gives: value (text), the codes
SELECT CAST(m.value AS TEXT) AS value, $codes FROM $mapping AS m
