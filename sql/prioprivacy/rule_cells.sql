-- name: prioprivacy/rule_cells
-- List what one level makes of one attribute of every tuple.
-- reads: tuples (tuple, one integer column per attribute and level)
-- holes: $attribute value, $level value, $column columns, $tuples relation
-- gives: attribute, level, tuple, code
SELECT $attribute AS attribute, $level AS level, t.tuple, $column AS code FROM $tuples AS t
