-- name: refine/none
-- Give a state in which no tuple has a class.
-- reads: tuples (id, n)
-- holes: $tuples relation
-- gives: id, n, class
SELECT t.id, t.n, CAST(0 AS BIGINT) AS class FROM $tuples AS t WHERE FALSE
