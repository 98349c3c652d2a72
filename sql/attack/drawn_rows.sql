-- name: attack/drawn_rows
-- Draw rows of a table, among the first of it: those with the smallest hashes of their number and a seed.
-- reads: copied (a copy of a table)
-- holes: $copied relation, $rows value, $seed value, $most value
-- gives: row_id
SELECT drawn.row_id
FROM (
  SELECT r.row_id, MD5(CAST(r.row_id AS TEXT) || $seed) AS digest FROM $copied AS r WHERE r.row_id <= $rows
) AS drawn
ORDER BY drawn.digest, drawn.row_id
LIMIT $most
