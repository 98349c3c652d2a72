-- name: refine/none
-- Give a state in which no tuple has a class.
-- reads: tuples (id, n)
-- holes: $tuples relation
-- gives: id, n, class
SELECT id, n, CAST(0 AS BIGINT) AS class FROM $tuples WHERE FALSE
