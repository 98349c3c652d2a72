-- name: prioprivacy/recoded_anew
-- Put the tuples whose transformation changed back among the others.
-- reads: kept (tuple, node), moved (tuple, node)
-- holes: $kept relation, $moved relation
-- gives: tuple, node
SELECT tuple, node FROM $kept UNION ALL SELECT tuple, node FROM $moved
