-- name: privacy/evidence_repeated
-- Count the rows that evidence shows more than once.
-- reads: shown (number)
-- holes: $shown relation
-- gives: repeated
SELECT COUNT(*) - COUNT(DISTINCT s.number) AS repeated FROM $shown AS s
