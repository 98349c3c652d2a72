-- name: mondrian/regions
-- Join all cuts on the way from all tuples to a class: the positions of every attribute that it was cut to.
-- reads: assignment (class), sides (class, parent, attribute, low, high)
-- holes: $assignment relation, $sides relation
-- gives: class, attribute, low, high (positions; NULL: to the end)
-- engines: duckdb
SELECT class, attribute, MAX(low) AS low, MIN(high) AS high
FROM (
  WITH RECURSIVE ways AS (
    SELECT class, class AS node FROM $assignment GROUP BY class
    UNION ALL
    SELECT w.class, s.parent FROM ways AS w INNER JOIN $sides AS s ON s.class = w.node
  )
  SELECT w.class, s.attribute, s.low, s.high
  FROM ways AS w
  LEFT JOIN $sides AS s ON s.class = w.node
) AS walked
GROUP BY class, attribute
