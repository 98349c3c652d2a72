-- name: anatomy/groups
-- Deal the rows, sorted by sensitive value and otherwise at random, to the groups in turn, like cards.
-- reads: rows (row_id = text that no other row has, the columns), key (one row; key = text)
-- holes: $columns columns, $sensitive columns, $groups value, $rows relation, $key relation
-- gives: the columns, group_id (1 … $groups; no group has a value twice if none is in more than $groups rows)
SELECT $columns, (ROW_NUMBER() OVER (ORDER BY $sensitive, d.digest) - 1) % $groups + 1 AS group_id
FROM (SELECT $columns, MD5(k.key || r.row_id) AS digest FROM $rows AS r CROSS JOIN $key AS k) AS d
