-- name: quality/errors
-- Add up the squared errors of what classes show of a number, less those of its mean in their place.
-- reads: members (class, position, n = rows), positions (position, number), classes (class, and per attribute a label, first, last, leaves)
-- holes: $members relation, $positions relation, $classes relation, $cells columns, $statistic value, $leaves value, $mean value
-- gives: difference (of released rows; a cell that stands for all leaves, or for what is no number, shows the mean)
-- engines: duckdb
SELECT COALESCE(SUM(shown.n * (POWER(shown.number - shown.said, 2) - POWER(shown.number - $mean, 2))), 0) AS difference
FROM (
  SELECT
    m.n, p.number,
    COALESCE(
      CASE WHEN $statistic THEN TRY_CAST(k.label AS DOUBLE) END,
      CASE WHEN k.leaves < $leaves THEN (low.number + high.number) / 2 END,
      $mean
    ) AS said
  FROM $members AS m
  JOIN $positions AS p ON p.position = m.position
  JOIN (SELECT class, $cells FROM $classes) AS k ON k.class = m.class
  JOIN $positions AS low ON low.position = k.first
  JOIN $positions AS high ON high.position = k.last
  WHERE NOT p.number IS NULL
) AS shown
