-- name: kaca/block_count
-- Count the different combinations of some columns, NULL among them, in the piece that has most of them.
-- reads: generalized (class, piece, codes)
-- holes: $generalized relation, $columns columns
-- gives: blocks
-- engines: duckdb
SELECT MAX(blocks) AS blocks
FROM (SELECT piece, COUNT(*) AS blocks FROM (SELECT DISTINCT $columns FROM $generalized) AS found GROUP BY piece) AS counted
