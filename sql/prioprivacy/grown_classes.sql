-- name: prioprivacy/grown_classes
-- List the tuples of the classes that others have joined, and those others, with the class's new transformation.
-- reads: numbered (class, tuple), chosen (tuple, class), grown (class, node)
-- holes: $numbered relation, $chosen relation, $grown relation
-- gives: tuple, node
SELECT c.tuple, g.node
FROM (SELECT n.tuple, n.class FROM $numbered AS n UNION ALL SELECT c.tuple, c.class FROM $chosen AS c) AS c
JOIN $grown AS g ON g.class = c.class
