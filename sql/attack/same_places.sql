-- name: attack/same_places
-- Count the rows of classes that look like the row at the same place of the class in the source.
-- reads: whole (class), released (row_id, class, value), people (row_id, target, value), fits (target, class)
-- holes: $whole relation, $released relation, $people relation, $fits relation, $order columns
-- gives: rows, same
SELECT COUNT(*) AS rows, COALESCE(SUM(CASE WHEN a.value = b.value THEN 1 ELSE 0 END), 0) AS same
FROM (
  SELECT r.class, r.value, ROW_NUMBER() OVER (PARTITION BY r.class ORDER BY $order) AS place
  FROM $released AS r
  JOIN $whole AS w ON w.class = r.class
) AS a
JOIN (
  SELECT f.class, p.value, ROW_NUMBER() OVER (PARTITION BY f.class ORDER BY p.row_id) AS place
  FROM $people AS p
  JOIN $fits AS f ON f.target = p.target
) AS b ON b.class = a.class AND b.place = a.place
