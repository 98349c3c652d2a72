-- name: refine/choice
-- Let every tuple choose the cheapest cell that it may share.
-- reads: cells (id, n rows, key of the cell, cost of one row)
-- holes: $cells relation
-- gives: id, n, class (the key of the cell)
SELECT id, n, key AS class
FROM (SELECT id, n, key, ROW_NUMBER() OVER (PARTITION BY id ORDER BY cost, key) AS place FROM $cells) AS ranked
WHERE place = 1
