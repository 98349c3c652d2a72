-- name: cloak/pulls
-- Find for every quadrant with too few waiting units the class below it that is cheapest to pull up to them.
-- reads: nodes (node, rows, safe: one level), groups (rows, class_level, class_node)
-- holes: $nodes relation, $groups relation, $level value
-- gives: node, class_level, class_node (that class, where it adds less area than the parent quadrant would; at the root always)
-- engines: duckdb
SELECT node, class_level, class_node
FROM (
  SELECT
    node, class_level, class_node, added, allowed,
    ROW_NUMBER() OVER (PARTITION BY node ORDER BY added, class_level DESC, class_node) AS place
  FROM (
    -- In areas of a quadrant of this level: the class grows to one, what waits would at least grow from one to four.
    SELECT
      n.node, c.class_level, c.class_node, 3 * n.rows AS allowed,
      c.rows * (1 - POWER(0.25, c.class_level - $level)) AS added
    FROM $nodes AS n
    JOIN (
      SELECT class_level, class_node, SUM(rows) AS rows FROM $groups GROUP BY class_level, class_node
    ) AS c ON n.node = c.class_node >> (2 * (c.class_level - $level))
    WHERE NOT n.safe
  ) AS priced
) AS ranked
WHERE place = 1 AND (added <= allowed OR $level = 0)
