-- name: cloak/jumps
-- Lead from every instant to the one after its interval, where the next interval would begin.
-- reads: instants (x_cell, y_cell, instant, closing)
-- holes: $instants relation
-- gives: x_cell, y_cell, instant, target
-- engines: duckdb
SELECT i.x_cell, i.y_cell, i.instant, n.instant AS target
FROM $instants AS i
JOIN $instants AS n ON i.x_cell = n.x_cell AND i.y_cell = n.y_cell AND i.closing + 1 = n.instant
