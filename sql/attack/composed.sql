-- name: attack/composed
-- Count the people whose value two releases leave in doubt, and those whose value they tell together.
-- reads: own (target, value, n), first (target, different, value), second (as first), both (as first)
-- holes: $own relation, $first relation, $second relation, $both relation
-- gives: people, told
SELECT
  COALESCE(SUM(o.n), 0) AS people,
  COALESCE(SUM(CASE WHEN c.different = 1 AND c.value = o.value THEN o.n ELSE 0 END), 0) AS told
FROM $own AS o
JOIN $first AS a ON a.target = o.target
JOIN $second AS b ON b.target = o.target
JOIN $both AS c ON c.target = o.target
WHERE a.different > 1 AND b.different > 1
