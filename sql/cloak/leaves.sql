-- name: cloak/leaves
-- Count the rows of every unit in every leaf of the quadtree, and give the deepest level at which k such pairs share a quadrant.
-- reads: keys (unit, key)
-- holes: $keys relation, $depth value, $others value, $coarse value
-- gives: key, unit, rows, entry (that level; where it is above the level $coarse, the one above that)
-- engines: duckdb
SELECT key, unit, rows, CAST(COALESCE(MAX(shared) OVER near, $coarse - 1) AS TINYINT) AS entry
FROM (
  SELECT
    key, unit, rows,
    -- k neighbours in Morton order lie in one quadrant where the first and the last of them do
    CASE WHEN differing = 0 THEN $depth ELSE $depth - (LENGTH(BIN(differing)) + 1) // 2 END AS shared
  FROM (
    SELECT key, unit, rows, XOR(key, LEAD(key, $others) OVER near) AS differing
    FROM (SELECT key, unit, CAST(COUNT(*) AS INTEGER) AS rows FROM $keys GROUP BY key, unit) AS counted
    -- apart by quadrants of a coarse level, so that no sort holds all leaves
    WINDOW near AS (PARTITION BY key >> (2 * ($depth - $coarse)) ORDER BY key, unit)
  ) AS compared
) AS told
WINDOW near AS (
  PARTITION BY key >> (2 * ($depth - $coarse)) ORDER BY key, unit ROWS BETWEEN $others PRECEDING AND CURRENT ROW
)
