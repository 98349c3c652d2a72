-- name: quality/generalized
-- Count the released rows whose cell stands for several leaves, attribute by attribute.
-- reads: classes (class, n = rows, leaves_j = leaves that a cell may stand for, per attribute)
-- holes: $classes relation, $leaves columns
-- gives: one count per attribute
SELECT COALESCE(SUM(CASE WHEN $leaves > 1 THEN k.n END), 0) FROM $classes AS k
