-- name: refine/room
-- Put the classes in order: first those that may take in most of the tuples without a class, then those that lose most.
-- reads: classes (class, cost of one row), room_rows (class, times, n, what the model counts by)
-- holes: $classes relation, $room_rows relation, $safe predicate
-- gives: class, place (from 1)
SELECT c.class, ROW_NUMBER() OVER (ORDER BY COALESCE(r.room, 0) DESC, c.cost DESC, c.class) AS place
FROM $classes AS c
LEFT JOIN (
  SELECT s.class, COUNT(*) AS room
  FROM (
    SELECT v.class, v.times FROM $room_rows AS v GROUP BY v.class, v.times HAVING COALESCE($safe, FALSE)
  ) AS s
  GROUP BY s.class
) AS r ON r.class = c.class
