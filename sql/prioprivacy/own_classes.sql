-- name: prioprivacy/own_classes
-- Describe the classes of an algorithm that makes its own labels.
-- reads: numbered (class, tuple, n, the cells, equal within a class)
-- holes: $cells columns, $numbered relation
-- gives: class, n (rows), the cells
SELECT class, CAST(SUM(n) AS BIGINT) AS n, MIN($cells) FROM $numbered GROUP BY class
