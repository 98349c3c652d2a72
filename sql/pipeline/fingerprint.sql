-- name: pipeline/fingerprint
-- Fold all rows of a relation into one text, whatever their order; NULL is no text, and rows that are there twice count twice.
-- reads: relation (any shape)
-- holes: $relation relation, $columns columns
-- gives: rows, digest (NULL of no rows)
SELECT COALESCE(SUM(parts.n), 0) AS rows, MD5(STRING_AGG(parts.digest, '' ORDER BY parts.part)) AS digest
FROM (
  SELECT
    SUBSTRING(lines.line, 1, 4) AS part, MD5(STRING_AGG(lines.line, '' ORDER BY lines.line)) AS digest, COUNT(*) AS n
  FROM (
    SELECT
      MD5(ARRAY_TO_STRING([COALESCE(LENGTH(CAST($columns AS TEXT)) || ':' || CAST($columns AS TEXT), '-')], ',')) AS line
    FROM $relation AS r
  ) AS lines
  GROUP BY SUBSTRING(lines.line, 1, 4)
) AS parts
