-- name: anatomy/rows
-- Keep what an anatomy shows of each row: all but its sensitive values, and the number of its class.
-- reads: grouped (the released rows; group_id = number of the class)
-- holes: $columns columns, $sorted columns, $grouped relation
-- gives: group_id, the columns; in their own order, which owes nothing to the sensitive values
SELECT g.group_id, $columns FROM $grouped AS g ORDER BY group_id, CAST($sorted AS TEXT), MD5(CAST($sorted AS TEXT))
