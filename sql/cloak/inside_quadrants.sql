-- name: cloak/inside_quadrants
-- Count the units inside every released quadrant and slice, whichever box they are released with, and give the fewest.
-- reads: keys (unit, key), quadrants (level, node)
-- holes: $keys relation, $quadrants relation, $depth value
-- gives: smallest (units)
-- engines: duckdb
SELECT MIN(units) AS smallest
FROM (
  SELECT q.level, q.node, COUNT(*) AS units
  FROM $quadrants AS q
  JOIN (
    SELECT DISTINCT l.level, k.key >> (2 * ($depth - l.level)) AS node, k.unit
    FROM $keys AS k
    CROSS JOIN (SELECT DISTINCT level FROM $quadrants) AS l
  ) AS k ON q.level = k.level AND q.node = k.node
  GROUP BY q.level, q.node
) AS counted
