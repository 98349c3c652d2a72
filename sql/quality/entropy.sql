-- name: quality/entropy
-- Add up the bits that rows lose from one level of a hierarchy to a higher one, among those that reach it.
-- reads: levels (value, level, n), mapping (code_0, code_1, …)
-- holes: $levels relation, $mapping relation, $fine columns, $coarse columns, $level value
-- gives: bits
-- engines: duckdb
SELECT COALESCE(SUM(n * LOG(2, coarse / fine)), 0) AS bits
FROM (
  SELECT n, SUM(n) OVER (PARTITION BY fine) AS fine, SUM(n) OVER (PARTITION BY coarse) AS coarse
  FROM (
    SELECT l.n, m.fine, m.coarse
    FROM $levels AS l
    JOIN (SELECT DISTINCT code_0, $fine AS fine, $coarse AS coarse FROM $mapping) AS m ON m.code_0 = l.value
    WHERE l.level >= $level
  ) AS reached
) AS shares
