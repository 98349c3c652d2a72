-- name: mondrian/branches
-- List, per partition and attribute, the children of the lowest node that holds all its values.
-- reads: cells (class, attribute, position, number (NULL: not ordered), most, weight, n = rows), nodes (attribute, position, level, node, high, leaves, width)
-- holes: $cells relation, $nodes relation, $safe predicate
-- gives: class, attribute, level, node, n, safe (the child alone), weight, most, width (of the partition), saved (leaves that the child's rows need no more, parted from the rest)
-- engines: duckdb
SELECT class, attribute, level, node, n, safe, weight, most, weight * width AS width, n * fewer AS saved
FROM (
  SELECT
    c.class, c.attribute, b.level, b.node, MIN(c.weight) AS weight, MIN(c.most) AS most, CAST(SUM(c.n) AS BIGINT) AS n,
    COALESCE($safe, FALSE) AS safe, MIN(s.width) AS width, MIN(s.leaves) - MIN(b.leaves) AS fewer
  FROM (
    SELECT l.class, l.attribute, MIN(a.level) - 1 AS level, MIN(a.leaves) AS leaves, MIN(a.width) AS width
    FROM (
      SELECT class, attribute, MIN(position) AS low, MAX(position) AS high
      FROM $cells
      WHERE number IS NULL
      GROUP BY class, attribute
      HAVING MIN(position) < MAX(position)
    ) AS l
    INNER JOIN $nodes AS a ON a.attribute = l.attribute AND a.position = l.low AND a.high >= l.high
    GROUP BY l.class, l.attribute
  ) AS s
  INNER JOIN $cells AS c ON c.class = s.class AND c.attribute = s.attribute
  INNER JOIN $nodes AS b ON b.attribute = s.attribute AND b.position = c.position AND b.level = s.level
  GROUP BY c.class, c.attribute, b.level, b.node
) AS children
