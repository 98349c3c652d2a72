-- name: quality/ambiguity
-- Add up, over released rows, the share of all combinations of leaves that each may stand for.
-- reads: cells (n = rows, class, share = logarithm of the share of all combinations of leaves, or weighted = the same with weights)
-- holes: $cells relation, $share columns
-- gives: released_rows, shares
SELECT COALESCE(SUM(c.n), 0) AS released_rows, COALESCE(SUM(c.n * EXP($share)), 0) AS shares FROM $cells AS c
