-- name: attack/in_order
-- Count the neighbours within a class when its rows are sorted, and those that come in the source's order.
-- reads: sure (shown, class, place), release (a copy of a release)
-- holes: $sure relation, $release relation, $order columns
-- gives: neighbours, ordered
SELECT COUNT(*) AS neighbours, COALESCE(SUM(CASE WHEN beside.place > beside.before THEN 1 ELSE 0 END), 0) AS ordered
FROM (
  SELECT s.place, LAG(s.place) OVER (PARTITION BY s.class ORDER BY $order) AS before
  FROM $sure AS s
  JOIN $release AS r ON r.row_id = s.shown
) AS beside
WHERE beside.before IS NOT NULL
