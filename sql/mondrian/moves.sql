-- name: mondrian/moves
-- Say for every value of the chosen attribute to which new partition its rows go; those of a dealt median to two.
-- reads: chosen (class, attribute, split, dealt, kept, level, spared), cells (class, attribute, code, position), nodes (attribute, position, level, node), branches (class, attribute, node, safe)
-- holes: $chosen relation, $cells relation, $nodes relation, $branches relation
-- gives: class, attribute, code, part (of an ordered attribute 0 and 1, else the node, -1 for the rest), skip (rows of the value that go elsewhere first), take (rows; NULL: all), next_class (numbered after all that there are)
-- engines: duckdb
SELECT
  class, attribute, code, part, skip, take,
  (SELECT MAX(class) FROM $cells) + DENSE_RANK() OVER (ORDER BY class, part) AS next_class
FROM (
  SELECT
    h.class, h.attribute, c.code, 0 AS skip, CASE WHEN c.position = h.split THEN h.dealt END AS take,
    CASE
      WHEN h.split IS NULL THEN CASE WHEN b.safe AND b.node <> COALESCE(h.spared, -1) THEN b.node ELSE -1 END
      WHEN c.position <= h.split THEN 0
      ELSE 1
    END AS part
  FROM $chosen AS h
  INNER JOIN $cells AS c ON c.class = h.class AND c.attribute = h.attribute
  LEFT JOIN $nodes AS o ON o.attribute = c.attribute AND o.position = c.position AND o.level = h.level
  LEFT JOIN $branches AS b ON b.class = h.class AND b.attribute = h.attribute AND b.node = o.node
  UNION ALL
  SELECT h.class, h.attribute, c.code, h.dealt, h.kept, 1
  FROM $chosen AS h
  INNER JOIN $cells AS c ON c.class = h.class AND c.attribute = h.attribute AND c.position = h.split
  WHERE h.kept > 0
) AS parted
