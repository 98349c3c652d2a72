-- name: kaca/unsafe
-- Count the classes, those that may not be released yet, and those of them that are alone in their piece.
-- reads: classes (class, n, safe, piece)
-- holes: $classes relation
-- gives: classes, unsafe, alone
-- engines: duckdb
SELECT
  COALESCE(SUM(classes), 0) AS classes,
  COALESCE(SUM(unsafe), 0) AS unsafe,
  COUNT(*) FILTER (WHERE classes = 1 AND unsafe = 1) AS alone
FROM (
  SELECT COUNT(*) AS classes, COUNT(*) FILTER (WHERE NOT safe) AS unsafe FROM $classes GROUP BY piece
) AS counted
