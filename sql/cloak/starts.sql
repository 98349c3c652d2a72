-- name: cloak/starts
-- Add to the instants where intervals begin those that a jump leads to from them.
-- reads: starts (x_cell, y_cell, instant), jumps (x_cell, y_cell, instant, target)
-- holes: $starts relation, $jumps relation
-- gives: x_cell, y_cell, instant
-- engines: duckdb
SELECT x_cell, y_cell, instant FROM $starts
UNION
SELECT s.x_cell, s.y_cell, j.target AS instant
FROM $starts AS s
JOIN $jumps AS j ON s.x_cell = j.x_cell AND s.y_cell = j.y_cell AND s.instant = j.instant
