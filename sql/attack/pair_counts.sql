-- name: attack/pair_counts
-- Count the pairs of rows by the way in which they were made.
-- reads: pairs (way, row_id, other)
-- holes: $pairs relation
-- gives: way, n
SELECT p.way, COUNT(*) AS n FROM $pairs AS p GROUP BY p.way
