-- name: kaca/near
-- Keep the classes that are in a piece with a seeker.
-- reads: classes (class, n, distortion, block, place, piece, codes), seekers (piece, …)
-- holes: $classes relation, $seekers relation, $codes columns
-- gives: class, n, distortion, block, place, the codes
-- engines: duckdb
SELECT class, n, distortion, block, place, $codes
FROM $classes AS c
WHERE piece IN (SELECT piece FROM $seekers)
