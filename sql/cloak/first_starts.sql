-- name: cloak/first_starts
-- Begin the first interval of every cell at its first instant.
-- reads: instants (x_cell, y_cell, instant)
-- holes: $instants relation
-- gives: x_cell, y_cell, instant
-- engines: duckdb
SELECT x_cell, y_cell, instant FROM $instants WHERE instant = 1
