-- name: wildcard/patterns
-- Number the patterns of a release: rows whose cells are on the same levels have one.
-- reads: readings (class, the levels and codes of its cells)
-- holes: $levels columns, $codes columns, $readings relation
-- gives: pattern (0, 1, …), class, the levels, the codes
SELECT CAST(DENSE_RANK() OVER (ORDER BY $levels) - 1 AS INTEGER) AS pattern, r.class, $levels, $codes FROM $readings AS r
