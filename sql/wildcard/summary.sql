-- name: wildcard/summary
-- Say whether every released row is equal to enough others, or else fits enough original rows.
-- reads: rows (class, n), fits (class, fits = original rows, safe)
-- holes: $rows relation, $fits relation, $safe predicate
-- gives: rows, classes, smallest_class, unsafe_class_rows (in classes that are too small), smallest_fit (original rows), unsafe_rows (in such a class, and fitting too few)
SELECT
  COALESCE(SUM(judged.size), 0) AS rows,
  COUNT(*) AS classes,
  MIN(judged.size) AS smallest_class,
  COALESCE(SUM(judged.size) FILTER (WHERE NOT judged.safe), 0) AS unsafe_class_rows,
  MIN(CASE WHEN judged.safe AND judged.size > judged.fits THEN judged.size ELSE judged.fits END) AS smallest_fit,
  COALESCE(SUM(judged.size) FILTER (WHERE NOT judged.safe AND NOT judged.fits_safe), 0) AS unsafe_rows
FROM (
  SELECT k.size, k.safe, COALESCE(f.fits, 0) AS fits, COALESCE(f.safe, FALSE) AS fits_safe
  FROM (SELECT r.class, SUM(r.n) AS size, COALESCE($safe, FALSE) AS safe FROM $rows AS r GROUP BY r.class) AS k
  LEFT JOIN $fits AS f ON f.class = k.class
) AS judged
