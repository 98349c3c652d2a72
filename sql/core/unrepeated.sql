-- name: core/unrepeated
-- Leave out of a view's table what is in it more than once, so that a join with it never multiplies a row.
-- reads: kept (any table)
-- holes: $keys columns, $columns columns, $kept relation
-- gives: the keys, the columns
SELECT $keys, $columns
FROM (SELECT $keys, $columns, COUNT(*) OVER (PARTITION BY $keys) AS copies FROM $kept AS k) AS counted
WHERE counted.copies = 1
