-- name: cloak/pending
-- Bring what waits to the quadrants of a level: what the level below left over, and the leaves that enter here.
-- reads: leaves (key, unit, rows, entry), waiting (node of the level below, unit, rows), round (node, taken: of the level below)
-- holes: $leaves relation, $waiting relation, $round relation, $level value, $shift value
-- gives: node, unit, n (1: a unit counts once), rows
-- engines: duckdb
SELECT node, unit, 1 AS n, CAST(SUM(rows) AS BIGINT) AS rows
FROM (
  SELECT w.node >> 2 AS node, w.unit, w.rows
  FROM $waiting AS w JOIN $round AS r ON w.node = r.node
  WHERE NOT r.taken
  UNION ALL
  SELECT key >> $shift AS node, unit, rows FROM $leaves WHERE entry = $level
) AS arriving
GROUP BY node, unit
