-- name: attack/narrowed_labels
-- Count the rows whose label of one attribute stands for fewer values than it says, since other classes have all the rest.
-- reads: lines (class, line, hole, several), whole (class), classes (class, the labels, n), covers (label, value: keys), sizes (label, value: keys, size)
-- holes: $lines relation, $whole relation, $classes relation, $covers relation, $sizes relation, $value columns, $number value
-- gives: rows, certain (those of one value that is left)
SELECT COALESCE(SUM(a.n), 0) AS rows, COALESCE(SUM(CASE WHEN a.size - a.others = 1 THEN a.n END), 0) AS certain
FROM (
  SELECT o.class, k.n, s.size, COUNT(*) AS others
  FROM $lines AS o
  JOIN (SELECT k.class, k.n, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k
    ON k.class = o.class
  JOIN $sizes AS s ON s.label = k.label
  JOIN $lines AS l ON l.line = o.line AND l.hole = o.hole AND l.several = 0
  JOIN $whole AS w ON w.class = l.class
  JOIN (SELECT k.class, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS x ON x.class = l.class
  JOIN $sizes AS e ON e.label = x.label
  JOIN $covers AS c ON c.label = k.label AND c.value = e.value
  WHERE o.hole = $number AND o.several = 1
  GROUP BY o.class, k.n, s.size
) AS a
