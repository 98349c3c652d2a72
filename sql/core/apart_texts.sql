-- name: core/apart_texts
-- Count which of six texts a column's collation tells apart, none of which is bytewise equal to another.
-- reads: source (any shape)
-- holes: $column columns, $source relation
-- gives: different
-- engines: duckdb, postgresql
SELECT COUNT(DISTINCT texts.text) AS different
FROM (
  SELECT $column AS text FROM $source AS s WHERE FALSE
  UNION ALL SELECT 'a' UNION ALL SELECT 'A' UNION ALL SELECT 'á' UNION ALL SELECT 'á'
  UNION ALL SELECT 'a ' UNION ALL SELECT 'a-'
) AS texts
