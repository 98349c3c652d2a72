-- name: cloak/in_quadrants
-- Find the quadrant that every row is released in.
-- reads: keys (row, key), owners (start, class_level), quadrants (box, level, node)
-- holes: $keys relation, $owners relation, $quadrants relation, $depth value
-- gives: row, box (a number of quadrants); no row that no quadrant took
-- engines: duckdb
SELECT k.row, o.box
FROM $keys AS k
ASOF JOIN (
  SELECT o.start, CAST(q.box AS INTEGER) AS box
  FROM $owners AS o
  LEFT JOIN $quadrants AS q ON o.class_level = q.level AND o.start >> (2 * ($depth - o.class_level)) = q.node
) AS o ON k.key >= o.start
WHERE NOT o.box IS NULL
