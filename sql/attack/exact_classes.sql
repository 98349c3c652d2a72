-- name: attack/exact_classes
-- List the classes that show one value of every attribute, beside one on the same line that shows several of one.
-- reads: classes (class, the labels, n), lines (class, line, hole, several)
-- holes: $classes relation, $lines relation, $labels columns
-- gives: class, the labels, n
SELECT k.class, $labels, k.n FROM $classes AS k
WHERE k.class IN (
  SELECT l.class FROM $lines AS l JOIN $lines AS o ON o.line = l.line AND o.hole = l.hole AND o.several = 1
  WHERE l.several = 0 AND l.hole > 0
)
