-- name: cloak/shortest
-- Give every instant the shortest interval around it in which k distinct units visit its cell.
-- reads: instants (x_cell, y_cell, instant, t, closing, until)
-- holes: $instants relation
-- gives: x_cell, y_cell, t, t_min, t_max; no instant of a cell that k units never visit
-- engines: duckdb
SELECT
  x_cell, y_cell, t,
  CASE WHEN t - opened_t <= shortest OR shortest IS NULL THEN opened_t ELSE since END AS t_min,
  CASE WHEN t - opened_t <= shortest OR shortest IS NULL THEN t ELSE till END AS t_max
FROM (
  -- Either the last interval that closes by now, drawn out to now, or one that opens after that and is still open.
  SELECT
    x_cell, y_cell, t, opened_t,
    MIN(until - t) OVER still_open AS shortest,
    ARG_MIN(t, until - t) OVER still_open AS since,
    ARG_MIN(until, until - t) OVER still_open AS till
  FROM (
    SELECT i.x_cell, i.y_cell, i.instant, i.t, i.until, b.opened_t, GREATEST(i.instant - COALESCE(b.opened, 0) - 1, 0) AS back
    FROM $instants AS i
    ASOF LEFT JOIN (
      SELECT x_cell, y_cell, closing, MAX(instant) AS opened, MAX(t) AS opened_t
      FROM $instants
      WHERE NOT closing IS NULL
      GROUP BY x_cell, y_cell, closing
    ) AS b ON i.x_cell = b.x_cell AND i.y_cell = b.y_cell AND i.instant >= b.closing
  ) AS paired
  WINDOW still_open AS (PARTITION BY x_cell, y_cell ORDER BY instant ROWS BETWEEN back PRECEDING AND CURRENT ROW)
) AS compared
WHERE NOT opened_t IS NULL OR NOT shortest IS NULL
