-- name: core/kept_cells
-- Turn one column of the sample into codes, and into places in the order of its values; NULL has no place.
-- reads: sampled (row_id, the column)
-- holes: $number value, $column columns, $sampled relation
-- gives: number (of the column), row_id, code, place
SELECT
  $number AS number,
  cells.row_id,
  DENSE_RANK() OVER (ORDER BY cells.value) AS code,
  CASE
    WHEN NOT cells.value IS NULL
    THEN CAST(RANK() OVER (ORDER BY cells.value) AS DOUBLE PRECISION)
      + CAST(COUNT(*) OVER (PARTITION BY cells.value) AS DOUBLE PRECISION) / 2
  END AS place
FROM (SELECT s.row_id, $column AS value FROM $sampled AS s) AS cells
