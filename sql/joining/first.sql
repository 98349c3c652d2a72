-- name: joining/first
-- List the rows of the first classes of an order.
-- reads: members (class, n = rows, and the sensitive columns), ranked (class, unsafe, place)
-- holes: $members relation, $ranked relation, $columns columns, $most value
-- gives: the columns
SELECT $columns
FROM $members AS m
JOIN $ranked AS r ON r.class = m.class
WHERE r.place <= $most
