-- name: attack/ranged
-- Show two bounds as the range between them, NULL where one of them is.
-- reads: copied (a copy of a release)
-- holes: $copied relation, $low columns, $high columns
-- gives: the copy's columns, the range
-- engines: duckdb
SELECT s.*, '[' || $low || ', ' || $high || ']' FROM $copied AS s
