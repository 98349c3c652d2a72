-- name: perturb/whole
-- Add noise of a stated scale to whole numbers: the noise is rounded, so that large numbers stay exact.
-- reads: draws (row_id, value, and standard noise by its distribution)
-- holes: $scale value, $draw columns, $bottom value, $top value, $draws relation
-- gives: row_id, value (a whole DECIMAL between the bounds)
SELECT
  d.row_id,
  LEAST(
    GREATEST(
      CAST(d.value AS DECIMAL(38, 0)) + CAST(ROUND($scale * $draw) AS DECIMAL(38, 0)),
      CAST($bottom AS DECIMAL(38, 0))
    ),
    CAST($top AS DECIMAL(38, 0))
  ) AS value
FROM $draws AS d
