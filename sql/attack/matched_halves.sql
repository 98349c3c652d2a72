-- name: attack/matched_halves
-- Add up how often the row and the value at the same place of a group belong together, and how often they would in any order.
-- reads: rows (class, key, place), values (key, value, first, last), shares (class, value, share)
-- holes: $rows relation, $values relation, $shares relation
-- gives: rows, right, expected
SELECT
  COUNT(DISTINCT CASE WHEN p.here THEN p.number END) AS rows,
  COALESCE(SUM(CASE WHEN p.here THEN p.share END), 0) AS right,
  COALESCE(SUM(p.share * p.n / CAST(p.size AS DOUBLE)), 0) AS expected
FROM (
  SELECT
    r.number,
    r.place BETWEEN v.first AND v.last AS here,
    v.last - v.first + 1 AS n,
    SUM(v.last - v.first + 1) OVER (PARTITION BY r.number) AS size,
    COALESCE(s.share, 0) AS share
  FROM (SELECT h.class, h.key, h.place, ROW_NUMBER() OVER (ORDER BY h.key, h.place) AS number FROM $rows AS h) AS r
  JOIN $values AS v ON v.key = r.key
  LEFT JOIN $shares AS s ON s.class = r.class AND s.value = v.value
) AS p
