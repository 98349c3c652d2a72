-- name: kaca/numbered
-- Number tuples as their rows by sensitive value are numbered: from 1.
-- reads: tuples (tuple, and other columns)
-- holes: $tuples relation, $columns columns
-- gives: id, the columns
-- engines: duckdb
SELECT t.tuple + 1 AS id, $columns FROM $tuples AS t
