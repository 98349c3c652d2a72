-- name: attack/unique_rows
-- List the rows of a release that no other is like in some columns, as texts.
-- reads: release (a copy of a release)
-- holes: $release relation, $columns columns
-- gives: class (the row's number), the columns as text, n (1)
SELECT u.class, CAST($columns AS TEXT), u.n
FROM (
  SELECT MIN(r.row_id) AS class, $columns, COUNT(*) AS n FROM $release AS r GROUP BY $columns HAVING COUNT(*) = 1
) AS u
