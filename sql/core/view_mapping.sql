-- name: core/view_mapping
-- Keep what a released view needs of a mapping table: each value's code and label on the chosen level, but not NULL's.
-- reads: mapping (value, code_0 … code_h, label_1 … label_h)
-- holes: $mapping relation, $columns columns
-- gives: value, code, label (no label on level 0, where the value stays)
SELECT m.value, $columns FROM $mapping AS m WHERE m.value IS NOT NULL
