-- name: refine/safe
-- Keep of the classes that tuples chose those that meet the privacy model.
-- reads: chosen (id, n rows, class)
-- holes: $chosen relation, $safe predicate
-- gives: id, n, class
SELECT id, n, class
FROM $chosen
WHERE class IN (SELECT class FROM $chosen GROUP BY class HAVING COALESCE($safe, FALSE))
