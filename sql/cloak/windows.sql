-- name: cloak/windows
-- Widen every visit's window by a step if it still holds fewer than k distinct units then (one round of a binary search).
-- reads: visits (x_cell, y_cell, unit, t, instant, width: the window is instant to instant + width)
-- holes: $visits relation, $step value, $k value
-- gives: x_cell, y_cell, unit, t, instant, width
-- engines: duckdb
SELECT
  x_cell, y_cell, unit, t, instant,
  width + CASE
    WHEN COUNT(DISTINCT unit) OVER (
      PARTITION BY x_cell, y_cell ORDER BY instant RANGE BETWEEN CURRENT ROW AND (width + $step) FOLLOWING
    ) < $k THEN $step
    ELSE 0
  END AS width
FROM $visits
