-- name: attack/targets
-- Draw people to attack from a table: those with the smallest hashes of their row's number and a seed.
-- reads: people (a copy of a table)
-- holes: $people relation, $columns columns, $seed value, $most value
-- gives: target (the row's number), the columns
SELECT drawn.row_id AS target, $columns
FROM (SELECT p.row_id, $columns FROM $people AS p ORDER BY MD5(CAST(p.row_id AS TEXT) || $seed), p.row_id LIMIT $most) AS drawn
