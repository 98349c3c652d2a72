-- name: refine/movers
-- List the tuples that may leave their class and would gain by it: the rest holds, or nothing is left.
-- reads: rests (id, class, dirty, n and cost of the rest, own rows, before), classes (class, tuples, n, cost, dirty), state (id, n, class), counted (id, n, what the model counts by; or the same relation)
-- holes: $rests relation, $counted relation, $classes relation, $state relation, $near value, $safe predicate
-- gives: id, own (rows), class, dirty, most (what leaving saves before the tuple costs anything elsewhere), place (those that save more per row than `near` first, of them those of dirty classes)
-- engines: duckdb, postgresql
SELECT l.id, l.own, l.class, l.dirty, CAST(l.most AS BIGINT) AS most, ROW_NUMBER() OVER (
  ORDER BY
    CASE WHEN l.most > l.own * $near THEN 0 ELSE 1 END,
    CASE WHEN l.dirty THEN 0 ELSE 1 END,
    l.most * 1.0 / l.own DESC,
    l.id
) AS place
FROM (
  SELECT r.id, r.own, r.class, r.dirty, r.before - r.n * r.cost AS most
  FROM $rests AS r
  WHERE r.id IN (SELECT r.id FROM $counted AS r GROUP BY r.id HAVING COALESCE($safe, FALSE))
  UNION ALL
  SELECT s.id, s.n AS own, s.class, c.dirty, c.n * c.cost AS most
  FROM $state AS s
  JOIN $classes AS c ON c.class = s.class
  WHERE c.tuples = 1
) AS l
WHERE l.most > 0
