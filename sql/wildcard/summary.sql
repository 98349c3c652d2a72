-- name: wildcard/summary
-- Say whether every released row is equal to enough others, or else fits enough original rows.
-- reads: rows (class, n), fits (class, fits = original rows, safe)
-- holes: $rows relation, $fits relation, $safe predicate
-- gives: rows, classes, smallest_class, unsafe_class_rows (in classes that are too small), smallest_fit (original rows), unsafe_rows (in such a class, and fitting too few)
SELECT
  COALESCE(SUM(n), 0) AS rows,
  COUNT(*) AS classes,
  MIN(n) AS smallest_class,
  COALESCE(SUM(n) FILTER (WHERE NOT safe), 0) AS unsafe_class_rows,
  MIN(CASE WHEN safe AND n > fits THEN n ELSE fits END) AS smallest_fit,
  COALESCE(SUM(n) FILTER (WHERE NOT safe AND NOT fits_safe), 0) AS unsafe_rows
FROM (
  SELECT k.n, k.safe, COALESCE(f.fits, 0) AS fits, COALESCE(f.safe, FALSE) AS fits_safe
  FROM (SELECT class, SUM(n) AS n, COALESCE($safe, FALSE) AS safe FROM $rows GROUP BY class) AS k
  LEFT JOIN $fits AS f ON f.class = k.class
) AS judged
