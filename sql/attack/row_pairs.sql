-- name: attack/row_pairs
-- Pair rows of one table with rows of another so many places further on, and from the last place on with the first.
-- reads: drawn (row_id), shifts (way, shift)
-- holes: $drawn relation, $shifts relation, $rows value
-- gives: way, row_id, other
SELECT s.way, d.row_id, (d.row_id - 1 + s.shift) % $rows + 1 AS other FROM $drawn AS d CROSS JOIN $shifts AS s
