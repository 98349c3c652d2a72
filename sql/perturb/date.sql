-- name: perturb/date
-- Move dates by noise of a stated scale in days, rounded to whole days.
-- reads: draws (row_id, value, and standard noise by its distribution)
-- holes: $scale value, $draw columns, $draws relation
-- gives: row_id, value (DATE)
SELECT d.row_id, d.value + CAST(ROUND($scale * $draw) AS INTEGER) AS value FROM $draws AS d
