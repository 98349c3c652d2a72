-- name: utility/answers
-- Answer count queries: each combination of codes counts by the chance that it is what is asked.
-- reads: asked (query, subset), combined (subset, first, second, third, n), weights (query, place, code, weight)
-- holes: $asked relation, $combined relation, $weights relation
-- gives: query, answer
SELECT q.query, SUM(r.n * a.weight * b.weight * c.weight) AS answer
FROM $asked AS q
JOIN $combined AS r ON r.subset = q.subset
JOIN $weights AS a ON a.query = q.query AND a.place = 1 AND a.code = r.first
JOIN $weights AS b ON b.query = q.query AND b.place = 2 AND b.code = r.second
JOIN $weights AS c ON c.query = q.query AND c.place = 3 AND c.code = r.third
GROUP BY q.query
