-- name: joining/nearest
-- Find for every unsafe class the class whose example is nearest, by the steps up the hierarchies until they are equal.
-- reads: unsafe (class), examples (class, one integer column per attribute and level)
-- holes: $unsafe relation, $examples relation, $between steps
-- gives: class, nearest
-- engines: duckdb
SELECT a.class AS class, ARG_MIN(b.class, ROW($between, b.class)) AS nearest
FROM $unsafe AS u
INNER JOIN $examples AS a ON a.class = u.class
INNER JOIN $examples AS b ON b.class <> a.class
GROUP BY a.class
