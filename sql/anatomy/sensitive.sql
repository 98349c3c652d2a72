-- name: anatomy/sensitive
-- Count the sensitive values of each class: the second table of an anatomy.
-- reads: grouped (the released rows; group_id = number of the class)
-- holes: $columns columns, $sensitive columns, $grouped relation
-- gives: group_id, the sensitive columns, count (rows)
SELECT g.group_id, $columns, COUNT(*) AS count
FROM $grouped AS g GROUP BY g.group_id, $sensitive ORDER BY group_id, CAST($sensitive AS TEXT)
