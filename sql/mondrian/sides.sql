-- name: mondrian/sides
-- Say what part of the chosen attribute's positions every new partition has.
-- reads: moves (class, attribute, part, next_class), chosen (class, split, kept, level), nodes (attribute, position, level, node, low, high)
-- holes: $moves relation, $chosen relation, $nodes relation
-- gives: class, parent (the partition that was cut), attribute, low, high (positions; NULL: as its parent)
-- engines: duckdb
SELECT
  m.next_class AS class, m.class AS parent, m.attribute,
  CASE WHEN h.split IS NULL THEN MIN(o.low) WHEN m.part = 1 THEN h.split + CASE WHEN h.kept > 0 THEN 0 ELSE 1 END END AS low,
  CASE WHEN h.split IS NULL THEN MAX(o.high) WHEN m.part = 0 THEN h.split END AS high
FROM $moves AS m
INNER JOIN $chosen AS h ON h.class = m.class
LEFT JOIN $nodes AS o ON o.attribute = m.attribute AND o.level = h.level AND o.node = m.part
GROUP BY m.next_class, m.class, m.attribute, m.part, h.split, h.kept
