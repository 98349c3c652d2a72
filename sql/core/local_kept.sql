-- name: core/local_kept
-- Count the released rows whose cell of one attribute is as it was: a lone label, equal bounds, a mean that is the value.
-- reads: members (class, position, n = rows), positions (position, value, number, starred), classes (class, and what they show)
-- holes: $members relation, $positions relation, $classes relation, $ends columns
-- gives: n (rows; what shows `*` is not as it was)
-- engines: duckdb
SELECT COALESCE(SUM(m.n), 0) AS n
FROM $members AS m
JOIN (
  SELECT position, starred, CAST(value AS TEXT) AS own, CAST(number AS TEXT) AS own_number FROM $positions
) AS p ON p.position = m.position
JOIN (SELECT class, CAST($ends AS TEXT) FROM $classes) AS k ON k.class = m.class
WHERE
  NOT p.starred
  AND (
    (k.lower = k.upper AND k.lower <> '*' AND (p.own = k.lower OR p.own_number = k.lower))
    OR (p.own IS NULL AND k.lower IS NULL AND k.upper IS NULL)
  )
