-- name: cloak/medians
-- Find the median over the rows of the released boxes' areas and of the intervals' lengths (the lower one of two).
-- reads: classes (x_min, x_max, y_min, y_max, length, n)
-- holes: $classes relation
-- gives: area, length
-- engines: duckdb
SELECT
  MIN(area) FILTER (WHERE 2 * rows_by_area >= every) AS area,
  MIN(length) FILTER (WHERE 2 * rows_by_length >= every) AS length
FROM (
  SELECT
    area, length,
    SUM(n) OVER (ORDER BY area) AS rows_by_area,
    SUM(n) OVER (ORDER BY length) AS rows_by_length,
    SUM(n) OVER () AS every
  FROM (SELECT (x_max - x_min) * (y_max - y_min) AS area, length, n FROM $classes) AS measured
) AS summed
