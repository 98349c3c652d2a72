-- name: cloak/different
-- Number the boxes that rows are given, equal ones once.
-- reads: given (row, x_min, x_max, y_min, y_max, t_min, t_max)
-- holes: $given relation
-- gives: box (from 1), x_min, x_max, y_min, y_max, t_min, t_max
-- engines: duckdb
SELECT ROW_NUMBER() OVER (ORDER BY x_min, x_max, y_min, y_max, t_min, t_max) AS box, x_min, x_max, y_min, y_max, t_min, t_max
FROM (SELECT DISTINCT x_min, x_max, y_min, y_max, t_min, t_max FROM $given) AS found
