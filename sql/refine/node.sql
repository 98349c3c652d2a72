-- name: refine/node
-- Number the classes of a lattice node, small ones too.
-- reads: tuples (id, n, codes on every level)
-- holes: $tuples relation, $columns columns
-- gives: id, n, class
SELECT t.id, t.n, DENSE_RANK() OVER (ORDER BY $columns) AS class FROM $tuples AS t
