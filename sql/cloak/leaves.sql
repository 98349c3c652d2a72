-- name: cloak/leaves
-- Count the rows of every unit in every leaf of the quadtree, and give the deepest level at which k such pairs share a quadrant.
-- reads: keys (unit, key)
-- holes: $keys relation, $depth value, $others value
-- gives: key, unit, rows, entry (that level; NULL or below 0 where not even a slice holds k)
-- engines: duckdb
SELECT
  key, unit, rows,
  MAX(shared) OVER (ORDER BY key, unit ROWS BETWEEN $others PRECEDING AND CURRENT ROW) AS entry
FROM (
  SELECT
    key, unit, rows,
    -- k neighbours in Morton order lie in one quadrant where the first and the last of them do
    CASE WHEN differing = 0 THEN $depth ELSE $depth - (LENGTH(BIN(differing)) + 1) // 2 END AS shared
  FROM (
    SELECT key, unit, rows, XOR(key, LEAD(key, $others) OVER (ORDER BY key, unit)) AS differing
    FROM (SELECT key, unit, COUNT(*) AS rows FROM $keys GROUP BY key, unit) AS counted
  ) AS compared
) AS told
