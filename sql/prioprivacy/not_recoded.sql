-- name: prioprivacy/not_recoded
-- Give the tuples that no transformation has taken one transformation.
-- reads: tuples (tuple, and anything else), recoded (tuple, and anything else)
-- holes: $node value, $tuples relation, $recoded relation
-- gives: tuple, node
SELECT t.tuple, $node AS node FROM $tuples AS t WHERE NOT EXISTS(SELECT 1 FROM $recoded AS r WHERE r.tuple = t.tuple)
