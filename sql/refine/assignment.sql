-- name: refine/assignment
-- Give every distinct tuple its class by the codes of its values.
-- reads: tuples (id, codes), state (id, n, class)
-- holes: $tuples relation, $state relation, $keys columns
-- gives: the codes, n, class (1, 2, …)
SELECT $keys, s.n, DENSE_RANK() OVER (ORDER BY s.class) AS class
FROM $state AS s
JOIN (SELECT t.id, $keys FROM $tuples AS t) AS t ON t.id = s.id
