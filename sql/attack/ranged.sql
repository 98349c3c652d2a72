-- name: attack/ranged
-- Show two bounds as the range between them, and as any value where they are NULL, as beside values they may be.
-- reads: copied (a copy of a release)
-- holes: $copied relation, $low columns, $high columns
-- gives: the copy's columns, the range
-- engines: duckdb
SELECT s.*, COALESCE('[' || $low || ', ' || $high || ']', '*') FROM $copied AS s
