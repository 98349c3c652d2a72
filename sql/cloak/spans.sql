-- name: cloak/spans
-- Give every instant the interval it lies in; what is left at a cell's end, too few units, joins the interval before it.
-- reads: instants (x_cell, y_cell, instant, t, closing), starts (x_cell, y_cell, instant)
-- holes: $instants relation, $starts relation
-- gives: x_cell, y_cell, t, t_min, t_max; no instant of a cell that k units never visit
-- engines: duckdb
SELECT
  x_cell, y_cell, t,
  MIN(t) OVER (PARTITION BY x_cell, y_cell, start) AS t_min,
  MAX(t) OVER (PARTITION BY x_cell, y_cell, start) AS t_max
FROM (
  SELECT
    i.x_cell, i.y_cell, i.t,
    MAX(CASE WHEN NOT i.closing IS NULL THEN s.instant END) OVER (PARTITION BY i.x_cell, i.y_cell ORDER BY i.instant) AS start
  FROM $instants AS i
  LEFT JOIN $starts AS s ON i.x_cell = s.x_cell AND i.y_cell = s.y_cell AND i.instant = s.instant
) AS begun
WHERE NOT start IS NULL
