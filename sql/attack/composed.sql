-- name: attack/composed
-- Count the people whose value two releases leave in doubt, and those of whom they tell one together.
-- reads: own (target, person, value, n), first (target, different, value), second (as first), both (as first)
-- holes: $own relation, $first relation, $second relation, $both relation
-- gives: people, told
SELECT COALESCE(SUM(doubted.n), 0) AS people, COALESCE(SUM(doubted.n * doubted.told), 0) AS told
FROM (
  SELECT o.person, o.n, MAX(CASE WHEN c.different = 1 AND c.value = o.value THEN 1 ELSE 0 END) AS told
  FROM $own AS o
  JOIN $first AS a ON a.target = o.target
  JOIN $second AS b ON b.target = o.target
  JOIN $both AS c ON c.target = o.target
  WHERE a.different > 1 AND b.different > 1
  GROUP BY o.person, o.n
) AS doubted
