-- name: joining/largest_parts
-- Put every tuple that was parted wholly into the class of its largest part.
-- reads: assignment (class, n = rows, the level-0 codes)
-- holes: $assignment relation, $keys columns
-- gives: the codes, n, class
-- engines: duckdb
SELECT $keys, SUM(n) AS n, ARG_MAX(class, ROW(n, class)) AS class
FROM $assignment
GROUP BY $keys
