-- name: privacy/differing_rows
-- Count the kinds of rows of which two releases do not have equally many, whatever their types.
-- reads: one (the columns, n = rows), other (the same)
-- holes: $one relation, $other relation, $columns columns
-- gives: differing
SELECT COUNT(*) AS differing
FROM (
  (SELECT CAST($columns AS TEXT), a.n FROM $one AS a EXCEPT SELECT CAST($columns AS TEXT), b.n FROM $other AS b)
  UNION ALL
  (SELECT CAST($columns AS TEXT), b.n FROM $other AS b EXCEPT SELECT CAST($columns AS TEXT), a.n FROM $one AS a)
) AS differences
