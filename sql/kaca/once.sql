-- name: kaca/once
-- Count every tuple once, whatever rows it has.
-- reads: tuples (tuple, the values' codes)
-- holes: $tuples relation, $values columns
-- gives: the values' codes, n (1)
-- engines: duckdb
SELECT $values, 1 AS n FROM $tuples AS t
