-- name: cloak/differences
-- Count the boxes that were written more or less often than planned.
-- reads: planned (the columns, n = rows), written (the columns, n = rows; typed or as text)
-- holes: $planned relation, $written relation, $columns columns
-- gives: differences
-- engines: duckdb
SELECT COUNT(*) AS differences
FROM (
  (
    SELECT CAST($columns AS VARCHAR), n FROM $planned
    EXCEPT
    SELECT CAST($columns AS VARCHAR), n FROM $written
  )
  UNION ALL
  (
    SELECT CAST($columns AS VARCHAR), n FROM $written
    EXCEPT
    SELECT CAST($columns AS VARCHAR), n FROM $planned
  )
) AS unequal
