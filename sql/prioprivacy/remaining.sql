-- name: prioprivacy/remaining
-- Leave out the tuples that have been recoded.
-- reads: tuples (tuple, and anything else), recoded (tuple, and anything else)
-- holes: $tuples relation, $recoded relation
-- gives: the same columns
-- engines: duckdb
SELECT * FROM $tuples AS t WHERE NOT EXISTS(SELECT 1 FROM $recoded AS r WHERE r.tuple = t.tuple)
