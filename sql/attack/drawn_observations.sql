-- name: attack/drawn_observations
-- Draw observations of who was seen where and when: those with the smallest hashes of their row's number and a seed.
-- reads: people (a copy of a table of observations)
-- holes: $people relation, $owner columns, $x columns, $y columns, $t columns, $seed value, $most value
-- gives: target (the row's number), owner, x, y, t
SELECT p.row_id AS target, $owner AS owner, $x AS x, $y AS y, $t AS t
FROM $people AS p
ORDER BY MD5(CAST(p.row_id AS TEXT) || $seed), p.row_id
LIMIT $most
