-- name: cloak/owners
-- Cut the Morton order where a taken quadrant begins or ends, and name the deepest one that holds each stretch.
-- reads: groups (level, node, class_level)
-- holes: $groups relation, $depth value
-- gives: start (the first key of the stretch), class_level (NULL where no quadrant was taken)
-- engines: duckdb
SELECT c.start, ARG_MAX(g.class_level, g.level) AS class_level
FROM (
  SELECT node << (2 * ($depth - level)) AS start FROM $groups
  UNION
  SELECT (node + 1) << (2 * ($depth - level)) AS start FROM $groups
) AS c
CROSS JOIN (SELECT DISTINCT level FROM $groups) AS l
LEFT JOIN $groups AS g ON g.level = l.level AND g.node = c.start >> (2 * ($depth - l.level))
GROUP BY c.start
