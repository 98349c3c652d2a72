-- name: kaca/pairs
-- Find some classes near every seeker, the nearest among them, of equally near ones the first by chance.
-- reads: distances (class, target, distance, place: what kaca/distances gives)
-- holes: $distances relation, $most value
-- gives: pair (from 1), class, target, distance, place (from 1, the nearest first)
-- engines: duckdb
SELECT ROW_NUMBER() OVER (ORDER BY class, place) AS pair, class, target, distance, place
FROM (
  SELECT class, target, distance, ROW_NUMBER() OVER (PARTITION BY class ORDER BY distance, place) AS place
  FROM $distances AS d
) AS near
WHERE place <= $most
