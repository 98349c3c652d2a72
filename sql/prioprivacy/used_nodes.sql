-- name: prioprivacy/used_nodes
-- List the transformations that some tuple has taken.
-- reads: recoded (tuple, node)
-- holes: $recoded relation
-- gives: node
SELECT DISTINCT r.node FROM $recoded AS r
