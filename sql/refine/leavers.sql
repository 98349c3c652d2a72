-- name: refine/leavers
-- List the tuples whose leaving saves anything, those that save most first, until the rows to be counted are too many.
-- reads: rests (id, class, n and cost of the rest, before), class_values (class; a row for each value)
-- holes: $rests relation, $class_values relation, $most value
-- gives: id, class
SELECT l.id, l.class
FROM (
  SELECT r.id, r.class, SUM(z.size) OVER (ORDER BY r.before - r.n * r.cost DESC, r.id) AS reached
  FROM $rests AS r
  JOIN (SELECT k.class, COUNT(*) AS size FROM $class_values AS k GROUP BY k.class) AS z ON z.class = r.class
  WHERE r.before > r.n * r.cost
) AS l
WHERE l.reached <= $most
