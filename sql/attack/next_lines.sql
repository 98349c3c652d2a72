-- name: attack/next_lines
-- Go on with the lines by one more attribute, with and without leaving it out; two labels for several values are too many.
-- reads: lines (class, line, hole, several), classes (class, the labels, n), sizes (label, value: keys, size)
-- holes: $lines relation, $classes relation, $sizes relation, $value columns, $number value
-- gives: class, line, hole, several
SELECT l.class, l.line || ',' || s.value AS line, l.hole, l.several
FROM $lines AS l
JOIN (SELECT k.class, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k ON k.class = l.class
JOIN $sizes AS s ON s.label = k.label AND s.size = 1
UNION ALL
SELECT l.class, l.line || '#' AS line, $number AS hole, CASE WHEN s.size > 1 THEN 1 ELSE 0 END AS several
FROM $lines AS l
JOIN (SELECT k.class, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k ON k.class = l.class
JOIN $sizes AS s ON s.label = k.label
WHERE l.hole = 0
