-- name: core/every_so_many
-- Take the values with every so many-th code, and the last, with what they become on each level.
-- reads: mapping (value, code_0, label_1 … label_h)
-- holes: $columns columns, $mapping relation, $step value, $last value
-- gives: the columns
SELECT $columns FROM $mapping AS m WHERE MOD(m.code_0, $step) = 0 OR m.code_0 = $last
