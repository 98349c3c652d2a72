-- name: prioprivacy/first_suppressions
-- Choose for every tuple the first pattern that leaves at least k values possible for the hidden cells.
-- reads: candidates (node, n, others, tuple), nodes (node, domain = product of the hidden columns' domain sizes)
-- holes: $candidates relation, $nodes relation, $k value
-- gives: tuple, node
SELECT c.tuple, MIN(c.node) AS node
FROM $candidates AS c
JOIN $nodes AS d ON d.node = c.node
WHERE d.domain > $k AND (c.n - 1 < d.domain - $k OR d.domain - c.others >= $k)
GROUP BY c.tuple
