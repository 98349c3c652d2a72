-- name: mondrian_branches
-- List, per partition and attribute, the children of the lowest node that holds all its values.
-- reads: cells (class, attribute, position, number (NULL: not ordered), weight, n = rows), nodes (attribute, position, level, node, high, share, width)
-- holes: $cells relation, $nodes relation, $safe predicate
-- gives: class, attribute, level, node, n, safe (the child alone), width (of the partition), gain (if the child is parted from the rest)
SELECT class, attribute, level, node, n, safe, weight * width AS width, weight * n * saved AS gain
FROM (
  SELECT
    c.class, c.attribute, b.level, b.node, MIN(c.weight) AS weight, CAST(SUM(c.n) AS BIGINT) AS n,
    COALESCE($safe, FALSE) AS safe, MIN(s.width) AS width, MIN(s.share) - MIN(b.share) AS saved
  FROM (
    SELECT l.class, l.attribute, MIN(a.level) - 1 AS level, MIN(a.share) AS share, MIN(a.width) AS width
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
