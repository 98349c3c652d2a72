-- name: quality/cell_levels
-- Count the source rows by their value of one attribute and the level that their cell is on, suppressed rows on the top.
-- reads: frequency_set (n = rows, a column of codes), assignment (the same column, n, class), classes (class, a level)
-- holes: $frequency_set relation, $assignment relation, $classes relation, $value columns, $level columns, $height value
-- gives: value (its code), level, n (rows)
SELECT counted.value, counted.level, CAST(SUM(counted.n) AS BIGINT) AS n
FROM (
  SELECT $value AS value, $height AS level, f.n FROM $frequency_set AS f
  UNION ALL
  SELECT a.value, k.level, a.n
  FROM (SELECT $value AS value, a.n, a.class FROM $assignment AS a) AS a
  JOIN (SELECT k.class, $level AS level FROM $classes AS k) AS k ON k.class = a.class
  UNION ALL
  SELECT a.value, $height AS level, -a.n AS n
  FROM (SELECT $value AS value, a.n, a.class FROM $assignment AS a) AS a
  JOIN (SELECT k.class FROM $classes AS k) AS k ON k.class = a.class
) AS counted
GROUP BY counted.value, counted.level
HAVING SUM(counted.n) > 0
