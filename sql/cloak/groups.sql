-- name: cloak/groups
-- Add the quadrants taken on a level to those taken below, and move the classes that were pulled up.
-- reads: groups (level, node, rows, class_level, class_node), round (node, rows, taken), pulls (node, class_level, class_node)
-- holes: $groups relation, $round relation, $pulls relation, $level value
-- gives: level, node (the quadrant that took its waiting rows), rows, class_level, class_node (the quadrant they are released as)
-- engines: duckdb
SELECT
  g.level, g.node, g.rows,
  CASE WHEN p.node IS NULL THEN g.class_level ELSE $level END AS class_level,
  COALESCE(p.node, g.class_node) AS class_node
FROM $groups AS g LEFT JOIN $pulls AS p ON g.class_level = p.class_level AND g.class_node = p.class_node
UNION ALL
SELECT $level AS level, node, rows, $level AS class_level, node AS class_node FROM $round WHERE taken
