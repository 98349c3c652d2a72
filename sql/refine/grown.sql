-- name: refine/grown
-- Add tuples that have found a class to a state.
-- reads: state (id, n, class), placed (id, n, class)
-- holes: $state relation, $placed relation
-- gives: id, n, class
SELECT s.id, s.n, s.class FROM $state AS s
UNION ALL
SELECT p.id, p.n, p.class FROM $placed AS p
