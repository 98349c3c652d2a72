-- name: wildcard/levels
-- List the patterns of a release by the levels of their cells.
-- reads: patterns (pattern, class, the levels)
-- holes: $levels columns, $patterns relation
-- gives: pattern, the levels
SELECT p.pattern, $levels FROM $patterns AS p GROUP BY p.pattern, $levels ORDER BY pattern
