-- name: refine/safe
-- Keep of the classes that tuples chose those that meet the privacy model.
-- reads: chosen (id, n rows, class), counted (class, n, what the model counts by; or the same relation)
-- holes: $chosen relation, $counted relation, $safe predicate
-- gives: id, n, class
SELECT c.id, c.n, c.class
FROM $chosen AS c
WHERE c.class IN (SELECT c.class FROM $counted AS c GROUP BY c.class HAVING COALESCE($safe, FALSE))
