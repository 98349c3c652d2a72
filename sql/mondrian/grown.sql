-- name: mondrian/grown
-- Count the partitions that were cut in a round, and what they became.
-- reads: moves (class, next_class)
-- holes: $moves relation
-- gives: cut, made
-- engines: duckdb
SELECT COUNT(DISTINCT class) AS cut, COUNT(DISTINCT next_class) AS made FROM $moves
