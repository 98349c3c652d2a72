-- name: prioprivacy/open_tuples
-- Mark the tuples that are still to be recoded, among all.
-- reads: tuples (tuple, n, the columns), remaining (tuple, and anything else)
-- holes: $tuples relation, $remaining relation, $columns columns
-- gives: tuple, n, the columns, open
-- engines: duckdb, postgresql
SELECT t.tuple, t.n, $columns, t.tuple IN (SELECT r.tuple FROM $remaining AS r) AS open FROM $tuples AS t
