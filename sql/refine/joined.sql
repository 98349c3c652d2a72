-- name: refine/joined
-- Put the generalizations of two halves of the attributes together, as far as their cost is within bounds.
-- reads: one (id, n, key, cost), other (id, n, key, cost)
-- holes: $one relation, $other relation, $above value, $most value
-- gives: id, n, key, cost
SELECT a.id AS id, a.n AS n, a.key + b.key AS key, a.cost + b.cost AS cost
FROM $one AS a
JOIN $other AS b ON b.id = a.id
WHERE a.cost + b.cost > $above AND a.cost + b.cost <= $most
