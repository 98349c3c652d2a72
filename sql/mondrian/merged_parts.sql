-- name: mondrian/merged_parts
-- Make one part of a tuple's parts that follow each other in one class.
-- reads: assignment (level-0 columns, n, first, last, class)
-- holes: $codes columns, $assignment relation
-- gives: the level-0 columns, n, first, last, class
-- engines: duckdb
SELECT $codes, CAST(SUM(n) AS BIGINT) AS n, MIN(first) AS first, MAX(last) AS last, class
FROM (
  SELECT
    $codes, n, first, last, class,
    last - SUM(n) OVER (
      PARTITION BY $codes, class ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS elsewhere
  FROM $assignment
) AS placed
GROUP BY $codes, class, elsewhere
