-- name: prioprivacy/class_members
-- Put what is counted of the tuples beside their classes.
-- reads: numbered (class, tuple, and anything else), counted (tuple, the columns)
-- holes: $columns columns, $numbered relation, $counted relation
-- gives: class, the columns
SELECT k.class, $columns
FROM (SELECT n.class, n.tuple FROM $numbered AS n) AS k
JOIN $counted AS c ON c.tuple = k.tuple
