-- name: cloak/met
-- Take the waiting rows of the cells of one grid in which enough units would take that very cell.
-- reads: waiting (row, unit, x_cell, y_cell, t_cell, space, time)
-- holes: $waiting relation, $space value, $time value, $space_shift value, $time_shift value, $safe predicate
-- gives: row, space, time (the levels it is released on)
-- engines: duckdb
SELECT w.row, $space AS space, $time AS time
FROM $waiting AS w
JOIN (
  SELECT x, y, t
  FROM (
    SELECT DISTINCT x_cell >> $space_shift AS x, y_cell >> $space_shift AS y, t_cell >> $time_shift AS t, unit, 1 AS n
    FROM $waiting
    WHERE space <= $space AND time <= $time
  ) AS willing
  GROUP BY x, y, t
  HAVING COALESCE($safe, FALSE)
) AS c ON w.x_cell >> $space_shift = c.x AND w.y_cell >> $space_shift = c.y AND w.t_cell >> $time_shift = c.t
WHERE w.space <= $space AND w.time <= $time
