-- name: cloak_medians
-- Find the median over the rows of the released boxes' areas and of the intervals' lengths (the lower one of two).
-- reads: classes (x_min, x_max, y_min, y_max, length, rows)
-- holes: $classes relation
-- gives: area, length
-- engines: duckdb
SELECT
  MIN(area) FILTER (WHERE 2 * rows_by_area >= every) AS area,
  MIN(length) FILTER (WHERE 2 * rows_by_length >= every) AS length
FROM (
  SELECT
    area, length,
    SUM(rows) OVER (ORDER BY area) AS rows_by_area,
    SUM(rows) OVER (ORDER BY length) AS rows_by_length,
    SUM(rows) OVER () AS every
  FROM (SELECT (x_max - x_min) * (y_max - y_min) AS area, length, rows FROM $classes) AS measured
) AS summed
