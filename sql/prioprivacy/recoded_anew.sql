-- name: prioprivacy/recoded_anew
-- Put the tuples whose transformation changed back among the others.
-- reads: kept (tuple, node), moved (tuple, node)
-- holes: $kept relation, $moved relation
-- gives: tuple, node
SELECT k.tuple, k.node FROM $kept AS k UNION ALL SELECT m.tuple, m.node FROM $moved AS m
