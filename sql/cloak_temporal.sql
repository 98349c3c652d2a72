-- Temporal cloaking: a fixed cell, and the interval in which k people were there.
-- engines: duckdb

-- name: instants
-- Find, for every instant of a cell, the first instant by which k distinct units have visited it since then.
-- columns: x_cell, y_cell, instant, t, closing (that instant; NULL if k units never come), until (its time)
SELECT i.x_cell, i.y_cell, i.instant, i.t, c.instant AS closing, c.t AS until
FROM (SELECT DISTINCT x_cell, y_cell, instant, t, width FROM $visits) AS i
LEFT JOIN (SELECT DISTINCT x_cell, y_cell, instant, t FROM $visits) AS c
  ON i.x_cell = c.x_cell AND i.y_cell = c.y_cell AND i.instant + i.width + 1 = c.instant;

-- name: spans
-- Assign every instant to its interval; instants left over at the end of a cell, with too few units, join the interval before them.
SELECT
  x_cell, y_cell, t,
  MIN(t) OVER (PARTITION BY x_cell, y_cell, start) AS t_min,
  MAX(t) OVER (PARTITION BY x_cell, y_cell, start) AS t_max
FROM (
  SELECT
    i.x_cell, i.y_cell, i.t,
    -- the latest interval start so far from which k units still come
    MAX(CASE WHEN NOT i.closing IS NULL THEN s.instant END) OVER (PARTITION BY i.x_cell, i.y_cell ORDER BY i.instant) AS start
  FROM $instants AS i
  LEFT JOIN $starts AS s ON i.x_cell = s.x_cell AND i.y_cell = s.y_cell AND i.instant = s.instant
) AS begun
WHERE NOT start IS NULL;

-- name: shortest
-- Find the shortest interval around every instant in which k distinct units visit its cell.
SELECT
  x_cell, y_cell, t,
  CASE WHEN t - opened_t <= shortest OR shortest IS NULL THEN opened_t ELSE since END AS t_min,
  CASE WHEN t - opened_t <= shortest OR shortest IS NULL THEN t ELSE till END AS t_max
FROM (
  -- Either the last interval that closes by now, extended to now, or one that opens later than it and is still open.
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
WHERE NOT opened_t IS NULL OR NOT shortest IS NULL;

-- name: stays
-- Return every row's cell as its box, with the interval of the row's instant.
SELECT
  c.row,
  CAST($x_from AS DOUBLE) + c.x_cell * CAST($x_width AS DOUBLE) AS x_min,
  CAST($x_from AS DOUBLE) + (c.x_cell + 1) * CAST($x_width AS DOUBLE) AS x_max,
  CAST($y_from AS DOUBLE) + c.y_cell * CAST($y_width AS DOUBLE) AS y_min,
  CAST($y_from AS DOUBLE) + (c.y_cell + 1) * CAST($y_width AS DOUBLE) AS y_max,
  s.t_min, s.t_max
FROM $cells AS c
JOIN $points AS p ON c.row = p.row
JOIN $spans AS s ON c.x_cell = s.x_cell AND c.y_cell = s.y_cell AND p.t = s.t;

-- name: inside_spans
-- Count the units that visit every row's cell within its interval, whatever their own intervals, and return the fewest.
-- columns: smallest (units)
SELECT MIN(units) AS smallest
FROM (
  -- RANGE bounds by the rank of times: ranks are whole numbers, while t - (t - t_min) may differ from t_min for fractional times.
  SELECT
    COUNT(DISTINCT unit) OVER (
      PARTITION BY x_min, y_min ORDER BY place RANGE BETWEEN (place - since) PRECEDING AND (till - place) FOLLOWING
    ) AS units
  FROM (
    SELECT
      row, x_min, y_min, MIN(unit) AS unit,
      MIN(place) FILTER (WHERE part = 't') AS place,
      MIN(place) FILTER (WHERE part = 'since') AS since,
      MIN(place) FILTER (WHERE part = 'till') AS till
    FROM (
      SELECT row, x_min, y_min, unit, part, DENSE_RANK() OVER (PARTITION BY x_min, y_min ORDER BY time) AS place
      FROM (
        SELECT r.row, b.x_min, b.y_min, p.unit, 't' AS part, p.t AS time FROM $boxed AS r JOIN $boxes AS b ON r.box = b.box JOIN $points AS p ON r.row = p.row
        UNION ALL
        SELECT r.row, b.x_min, b.y_min, NULL AS unit, 'since' AS part, b.t_min AS time FROM $boxed AS r JOIN $boxes AS b ON r.box = b.box
        UNION ALL
        SELECT r.row, b.x_min, b.y_min, NULL AS unit, 'till' AS part, b.t_max AS time FROM $boxed AS r JOIN $boxes AS b ON r.box = b.box
      ) AS stacked
    ) AS placed
    GROUP BY row, x_min, y_min
  ) AS ranked
) AS counted;

-- name: visits
-- List which unit was in which cell at which time, and number the instants of every cell; the windows are still empty.
-- columns: x_cell, y_cell, unit, t, instant (from 1), width (-1)
SELECT
  x_cell, y_cell, unit, t,
  DENSE_RANK() OVER (PARTITION BY x_cell, y_cell ORDER BY t) AS instant,
  CAST(-1 AS BIGINT) AS width
FROM (
  SELECT DISTINCT c.x_cell, c.y_cell, c.unit, p.t FROM $cells AS c JOIN $points AS p ON c.row = p.row
) AS seen;

-- name: most_instants
-- Find the number of instants of the busiest cell.
SELECT COALESCE(MAX(instant), 0) AS instants FROM $visits;

-- name: windows
-- Widen every visit's window by a step if it then still contains fewer than k distinct units (one round of a binary search).
SELECT
  x_cell, y_cell, unit, t, instant,
  width + CASE
    WHEN COUNT(DISTINCT unit) OVER (
      PARTITION BY x_cell, y_cell ORDER BY instant RANGE BETWEEN CURRENT ROW AND (width + $step) FOLLOWING
    ) < $k THEN $step
    ELSE 0
  END AS width
FROM $visits;

-- name: first_starts
-- Start the first interval of every cell at its first instant.
SELECT x_cell, y_cell, instant FROM $instants WHERE instant = 1;

-- name: jumps
-- Link every instant to the one after its interval, where the next interval would start.
SELECT i.x_cell, i.y_cell, i.instant, n.instant AS target
FROM $instants AS i
JOIN $instants AS n ON i.x_cell = n.x_cell AND i.y_cell = n.y_cell AND i.closing + 1 = n.instant;

-- name: starts
-- Add the instants that a jump from an interval's start leads to.
SELECT x_cell, y_cell, instant FROM $starts
UNION
SELECT s.x_cell, s.y_cell, j.target AS instant
FROM $starts AS s
JOIN $jumps AS j ON s.x_cell = j.x_cell AND s.y_cell = j.y_cell AND s.instant = j.instant;

-- name: doubled
-- Double the reach of the jumps: follow every jump by the one that starts where it ends.
SELECT a.x_cell, a.y_cell, a.instant, b.target
FROM $jumps AS a
JOIN $jumps AS b ON a.x_cell = b.x_cell AND a.y_cell = b.y_cell AND a.target = b.instant;
