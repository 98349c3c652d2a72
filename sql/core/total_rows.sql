-- name: core/total_rows
-- Add up the rows that a counted relation stands for.
-- reads: counted (n = rows, and anything else)
-- holes: $counted relation
-- gives: rows
SELECT COALESCE(SUM(c.n), 0) AS rows FROM $counted AS c
