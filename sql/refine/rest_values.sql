-- name: refine/rest_values
-- Count what is left of a class without one of its tuples, by the sensitive values, those that nobody has left out.
-- reads: leavers (id, class), class_values (class, n, sensitive codes), values (id, n, sensitive codes)
-- holes: $leavers relation, $class_values relation, $values relation, $sensitive columns
-- gives: id, n, the sensitive codes
SELECT r.id, CAST(SUM(r.n) AS BIGINT) AS n, $sensitive
FROM (
  SELECT l.id, k.n, $sensitive FROM $leavers AS l JOIN $class_values AS k ON k.class = l.class
  UNION ALL
  SELECT l.id, -v.n AS n, $sensitive FROM $leavers AS l JOIN $values AS v ON v.id = l.id
) AS r
GROUP BY r.id, $sensitive
HAVING SUM(r.n) > 0
