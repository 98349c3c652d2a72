-- name: mondrian/progress
-- Count the rounds that were made, the classes that partitions became in them, and the partitions that are open.
-- reads: rounds (class, round, is_open)
-- holes: $rounds relation
-- gives: made (rounds), classes, open_ones
-- engines: duckdb
SELECT
  MAX(round) AS made, COUNT(DISTINCT class) FILTER (WHERE NOT is_open) AS classes,
  COUNT(DISTINCT class) FILTER (WHERE is_open) AS open_ones
FROM $rounds
