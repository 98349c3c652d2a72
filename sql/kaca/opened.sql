-- name: kaca/opened
-- Put all classes into one piece; those that are alike are one class, called by the first of them.
-- reads: generalized (class, piece, codes)
-- holes: $generalized relation, $codes columns
-- gives: class, piece (0), the codes
-- engines: duckdb
SELECT MIN(g.class) AS class, 0 AS piece, $codes FROM $generalized AS g GROUP BY $codes
