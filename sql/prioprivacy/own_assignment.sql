-- name: prioprivacy/own_assignment
-- Say which class every distinct tuple is in.
-- reads: tuples (tuple, n, the columns), numbered (class, tuple)
-- holes: $columns columns, $tuples relation, $numbered relation
-- gives: the columns, n, class
SELECT $columns, t.n, k.class FROM $tuples AS t JOIN $numbered AS k ON k.tuple = t.tuple
