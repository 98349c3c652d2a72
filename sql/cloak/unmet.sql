-- name: cloak/unmet
-- Keep the rows waiting that were not taken.
-- reads: waiting (row, unit, x_cell, y_cell, t_cell, space, time), met (row)
-- holes: $waiting relation, $met relation
-- gives: row, unit, x_cell, y_cell, t_cell, space, time
-- engines: duckdb
SELECT w.row, w.unit, w.x_cell, w.y_cell, w.t_cell, w.space, w.time
FROM $waiting AS w LEFT JOIN $met AS m ON w.row = m.row
WHERE m.row IS NULL
