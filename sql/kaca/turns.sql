-- name: kaca/turns
-- Put the merges that are wanted in order, the nearest first; a stub is all that a small class takes of a large one.
-- reads: nearest (class, target, distance), classes (class, n, place)
-- holes: $nearest relation, $classes relation, $k value
-- gives: turn (from 1), class, target, target_n, stub (rows taken; 0: all of them)
-- engines: duckdb
SELECT
  ROW_NUMBER() OVER (ORDER BY e.distance, a.place) AS turn,
  e.class,
  e.target,
  b.n AS target_n,
  CASE WHEN a.n < $k AND a.n + b.n >= 2 * $k THEN $k - a.n ELSE 0 END AS stub
FROM $nearest AS e
JOIN $classes AS a ON a.class = e.class
JOIN $classes AS b ON b.class = e.target
