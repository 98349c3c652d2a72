-- name: refine/open
-- List the tuples that have no class yet, with their values' codes.
-- reads: tuples (id, n, codes), placed (id of a tuple that has a class)
-- holes: $tuples relation, $placed relation, $keys columns
-- gives: id, n, the codes
SELECT id, n, $keys FROM $tuples WHERE NOT id IN (SELECT id FROM $placed)
