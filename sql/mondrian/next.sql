-- name: mondrian/next
-- Move the tuples of every partition that was cut into their new partitions.
-- reads: open (level-0 columns, n, class), chosen (class, attribute), moves (class, code, next_class)
-- holes: $columns columns, $codes columns, $open relation, $chosen relation, $moves relation
-- gives: the level-0 columns, n, class
-- engines: duckdb
SELECT $columns, n, m.next_class AS class
FROM (
  SELECT $columns, o.n, o.class, [$codes][h.attribute + 1] AS code
  FROM $open AS o
  INNER JOIN $chosen AS h ON h.class = o.class
) AS cut
INNER JOIN $moves AS m ON m.class = cut.class AND m.code = cut.code
