-- name: prioprivacy/numbered_tuples
-- Give every distinct tuple a number of its own, the same in every run.
-- reads: tuples (one row per distinct tuple; n = rows; integer columns)
-- holes: $columns columns, $tuples relation
-- gives: tuple (1, 2, …), n, the columns
SELECT CAST(ROW_NUMBER() OVER (ORDER BY $columns) AS INTEGER) AS tuple, t.n, $columns FROM $tuples AS t
