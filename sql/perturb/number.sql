-- name: perturb/number
-- Add noise of a stated scale to numbers, and bring what leaves the bounds back to them.
-- reads: draws (row_id, value, and standard noise by its distribution)
-- holes: $scale value, $draw columns, $bottom value, $top value, $draws relation
-- gives: row_id, value (DOUBLE; a bound of NULL is none)
SELECT
  d.row_id,
  LEAST(GREATEST(CAST(d.value AS DOUBLE) + $scale * $draw, CAST($bottom AS DOUBLE)), CAST($top AS DOUBLE)) AS value
FROM $draws AS d
