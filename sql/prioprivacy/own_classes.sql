-- name: prioprivacy/own_classes
-- Describe the classes of an algorithm that makes its own labels.
-- reads: numbered (class, tuple, n, the cells, equal within a class)
-- holes: $cells columns, $numbered relation
-- gives: class, n (rows), the cells
SELECT n.class, CAST(SUM(n.n) AS BIGINT) AS n, MIN($cells) FROM $numbered AS n GROUP BY n.class
