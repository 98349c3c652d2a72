-- name: joining/replaced
-- Put other classes of the same tuples in the place of the first classes of an order.
-- reads: assignment (class, and other columns), ranked (class, unsafe, place), made (class from 0, and the columns)
-- holes: $assignment relation, $ranked relation, $made relation, $columns columns, $most value
-- gives: the columns, class (of the other ones above all that were)
SELECT $columns, a.class AS class
FROM $assignment AS a
JOIN $ranked AS r ON r.class = a.class
WHERE r.place > $most
UNION ALL
SELECT $columns, m.class + l.last + 1 AS class
FROM $made AS m
CROSS JOIN (SELECT MAX(r.class) AS last FROM $ranked AS r) AS l
