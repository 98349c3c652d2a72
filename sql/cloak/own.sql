-- name: cloak/own
-- Count the rows whose tolerances, or whose own k, are not valid.
-- reads: points (asked_k, dx, dy, dt)
-- holes: $points relation
-- gives: no_tolerance, no_k (rows)
-- engines: duckdb
SELECT
  COUNT(*) FILTER (
    WHERE NOT COALESCE(dx >= 0 AND dy >= 0 AND dt >= 0 AND ISFINITE(dx) AND ISFINITE(dy) AND ISFINITE(dt), FALSE)
  ) AS no_tolerance,
  COUNT(*) FILTER (WHERE NOT COALESCE(asked_k >= 1 AND ISFINITE(asked_k) AND asked_k = FLOOR(asked_k), FALSE)) AS no_k
FROM $points
