-- name: cloak/doubled
-- Jump twice as far: follow every jump by the jump from where it leads.
-- reads: jumps (x_cell, y_cell, instant, target)
-- holes: $jumps relation
-- gives: x_cell, y_cell, instant, target
-- engines: duckdb
SELECT a.x_cell, a.y_cell, a.instant, b.target
FROM $jumps AS a
JOIN $jumps AS b ON a.x_cell = b.x_cell AND a.y_cell = b.y_cell AND a.target = b.instant
