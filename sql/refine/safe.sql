-- name: refine/safe
-- Keep of the classes that tuples chose those that meet the privacy model.
-- reads: chosen (id, n rows, class)
-- holes: $chosen relation, $safe predicate
-- gives: id, n, class
SELECT c.id, c.n, c.class
FROM $chosen AS c
WHERE c.class IN (SELECT c.class FROM $chosen AS c GROUP BY c.class HAVING COALESCE($safe, FALSE))
