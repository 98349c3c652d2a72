-- name: refine/room_rows
-- List the rows of every class with half, once, twice and four times as many of the tuples that have no class, by value.
-- reads: classes (class, n), class_values (class, n, sensitive codes), open (id, n), values (id, n, sensitive codes)
-- holes: $classes relation, $class_values relation, $open relation, $values relation, $sensitive columns
-- gives: class, times (in halves), n, the sensitive codes
SELECT k.class, t.times, k.n, $sensitive
FROM $class_values AS k
CROSS JOIN (SELECT 1 AS times UNION ALL SELECT 2 UNION ALL SELECT 4 UNION ALL SELECT 8) AS t
UNION ALL
SELECT c.class, t.times, v.n, $sensitive
FROM $classes AS c
CROSS JOIN (SELECT 1 AS times UNION ALL SELECT 2 UNION ALL SELECT 4 UNION ALL SELECT 8) AS t
JOIN (
  SELECT o.id, SUM(o.n) OVER (ORDER BY MD5(CAST(o.id AS TEXT)), o.id) AS reached FROM $open AS o
) AS o ON 2 * o.reached <= t.times * c.n
JOIN $values AS v ON v.id = o.id
