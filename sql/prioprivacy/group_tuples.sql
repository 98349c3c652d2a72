-- name: prioprivacy/group_tuples
-- List the tuples of the chosen groups.
-- reads: members (node, class, tuple), chosen (node, class)
-- holes: $members relation, $chosen relation
-- gives: tuple, node
SELECT m.tuple, m.node FROM $members AS m JOIN $chosen AS g ON g.node = m.node AND g.class = m.class
