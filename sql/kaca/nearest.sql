-- name: kaca/nearest
-- Find every seeker's nearest class, of equally near ones the first by chance.
-- reads: distances (class, target, distance, place: what kaca/distances gives)
-- holes: $distances relation
-- gives: class, target, distance
-- engines: duckdb
SELECT class, ARG_MIN(target, ROW(distance, place)) AS target, MIN(distance) AS distance
FROM $distances AS d
GROUP BY class
