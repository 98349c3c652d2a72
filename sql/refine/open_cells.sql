-- name: refine/open_cells
-- Leave the tuples that have a class out of the cells.
-- reads: cells (id, n, key, cost), placed (id of a tuple that has a class)
-- holes: $cells relation, $placed relation
-- gives: id, n, key, cost
SELECT c.id, c.n, c.key, c.cost FROM $cells AS c WHERE NOT c.id IN (SELECT p.id FROM $placed AS p)
