-- name: quality/cells
-- Count what the values of one attribute have become, suppressed rows as `*`.
-- reads: assignment (the codes of the tuple's values, n = rows, class), classes (class, a label per attribute)
-- holes: $value columns, $label columns, $assignment relation, $classes relation
-- gives: value (its code), label, n (rows)
SELECT cells.value, cells.label, CAST(SUM(cells.n) AS BIGINT) AS n
FROM (
  SELECT a.value, CASE WHEN k.class IS NULL THEN '*' ELSE k.label END AS label, a.n
  FROM (SELECT $value AS value, a.n, a.class FROM $assignment AS a) AS a
  LEFT JOIN (SELECT k.class, $label AS label FROM $classes AS k) AS k ON k.class = a.class
) AS cells
GROUP BY cells.value, cells.label
