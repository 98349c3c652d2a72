-- name: refine/choice
-- Let every tuple choose the cheapest cell that it may share.
-- reads: cells (id, n rows, key of the cell, cost of one row)
-- holes: $cells relation
-- gives: id, n, class (the key of the cell)
SELECT ranked.id, ranked.n, ranked.key AS class
FROM (
  SELECT c.id, c.n, c.key, ROW_NUMBER() OVER (PARTITION BY c.id ORDER BY c.cost, c.key) AS place FROM $cells AS c
) AS ranked
WHERE ranked.place = 1
