-- name: cloak/instants
-- Give for every instant of a cell the first one by which k distinct units have come since.
-- reads: visits (x_cell, y_cell, t, instant, width: the widest window from here that holds fewer than k)
-- holes: $visits relation
-- gives: x_cell, y_cell, instant, t, closing (that instant; NULL if they never come), until (its time)
-- engines: duckdb
SELECT i.x_cell, i.y_cell, i.instant, i.t, c.instant AS closing, c.t AS until
FROM (SELECT DISTINCT x_cell, y_cell, instant, t, width FROM $visits) AS i
LEFT JOIN (SELECT DISTINCT x_cell, y_cell, instant, t FROM $visits) AS c
  ON i.x_cell = c.x_cell AND i.y_cell = c.y_cell AND i.instant + i.width + 1 = c.instant
