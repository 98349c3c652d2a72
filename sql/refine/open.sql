-- name: refine/open
-- List the tuples that have no class yet, with their values' codes.
-- reads: tuples (id, n, codes), placed (id of a tuple that has a class)
-- holes: $tuples relation, $placed relation, $keys columns
-- gives: id, n, the codes
SELECT t.id, t.n, $keys FROM $tuples AS t WHERE NOT t.id IN (SELECT p.id FROM $placed AS p)
