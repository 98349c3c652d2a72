-- name: kaca/block_count
-- Count the different combinations of some columns, NULL among them.
-- reads: generalized (class, codes)
-- holes: $generalized relation, $columns columns
-- gives: blocks
-- engines: duckdb
SELECT COUNT(*) AS blocks FROM (SELECT DISTINCT $columns FROM $generalized)
