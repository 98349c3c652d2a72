-- name: attack/wrong_shares
-- Count the rows of the priors whose share is none.
-- reads: shares (row_id, value, share)
-- holes: $shares relation
-- gives: rows
SELECT COUNT(*) AS rows FROM $shares AS s WHERE NOT COALESCE(s.share BETWEEN 0 AND 1, FALSE)
