-- name: joining/one
-- Make one class of the first classes of an order.
-- reads: assignment (class, and other columns), ranked (class, unsafe, place)
-- holes: $assignment relation, $ranked relation, $columns columns, $most value
-- gives: the columns, class (0)
SELECT $columns, 0 AS class
FROM $assignment AS a
JOIN $ranked AS r ON r.class = a.class
WHERE r.place <= $most
