-- name: refine/grown
-- Add tuples that have found a class to a state.
-- reads: state (id, n, class), placed (id, n, class)
-- holes: $state relation, $placed relation
-- gives: id, n, class
SELECT id, n, class FROM $state
UNION ALL
SELECT id, n, class FROM $placed
