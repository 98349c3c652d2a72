-- name: refine/movers
-- List the tuples that may leave their class and would gain by it: the rest holds, or nothing is left.
-- reads: rests (id, class, dirty, n and cost of the rest, own rows, before), classes (class, tuples, n, cost, dirty), state (id, n, class)
-- holes: $rests relation, $classes relation, $state relation, $near value, $safe predicate
-- gives: id, own (rows), class, dirty, most (what leaving saves before the tuple costs anything elsewhere), place (those that save more per row than `near` first, of them those of dirty classes)
SELECT id, own, class, dirty, CAST(most AS BIGINT) AS most, ROW_NUMBER() OVER (
  ORDER BY CASE WHEN most > own * $near THEN 0 ELSE 1 END, CASE WHEN dirty THEN 0 ELSE 1 END, most * 1.0 / own DESC, id
) AS place
FROM (
  SELECT id, own, class, dirty, before - n * cost AS most
  FROM $rests
  WHERE id IN (SELECT id FROM $rests GROUP BY id HAVING COALESCE($safe, FALSE))
  UNION ALL
  SELECT s.id, s.n AS own, s.class, c.dirty, c.n * c.cost AS most
  FROM $state AS s
  JOIN $classes AS c ON c.class = s.class
  WHERE c.tuples = 1
) AS leaving
WHERE most > 0
