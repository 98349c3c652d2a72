-- name: attack/hidden_cells
-- Count the rows whose cell of one attribute may stand for several values.
-- reads: classes (class, the labels, n), sizes (label, value: keys, size)
-- holes: $classes relation, $sizes relation, $value columns
-- gives: rows
SELECT COALESCE(SUM(k.n), 0) AS rows
FROM (SELECT k.n, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k
JOIN $sizes AS s ON s.label = k.label AND s.size > 1
