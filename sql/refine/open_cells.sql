-- name: refine/open_cells
-- Leave the tuples that have a class out of the cells.
-- reads: cells (id, n, key, cost), placed (id of a tuple that has a class)
-- holes: $cells relation, $placed relation
-- gives: id, n, key, cost
SELECT id, n, key, cost FROM $cells WHERE NOT id IN (SELECT id FROM $placed)
