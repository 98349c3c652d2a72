-- name: attack/targets
-- Draw people to attack from a table, one row of each: those with the smallest hashes of their row's number and a seed.
-- reads: people (a copy of a table)
-- holes: $people relation, $columns columns, $one columns, $seed value, $most value
-- gives: target (the row's number), the columns
SELECT drawn.row_id AS target, $columns
FROM (
  SELECT
    p.row_id,
    $columns,
    MD5(CAST(p.row_id AS TEXT) || $seed) AS hash,
    ROW_NUMBER() OVER (PARTITION BY $one ORDER BY MD5(CAST(p.row_id AS TEXT) || $seed), p.row_id) AS place
  FROM $people AS p
) AS drawn
WHERE drawn.place = 1
ORDER BY drawn.hash, drawn.row_id
LIMIT $most
