-- name: attack/isolated
-- Count the predicates, and those that exactly one of the people fits.
-- reads: predicates (class, the labels, n), fits (target, class), tuples (target, the columns, people, known)
-- holes: $predicates relation, $fits relation, $tuples relation
-- gives: predicates, isolating
SELECT COUNT(*) AS predicates, COALESCE(SUM(CASE WHEN counted.people = 1 THEN 1 ELSE 0 END), 0) AS isolating
FROM (
  SELECT p.class, COALESCE(SUM(t.people), 0) AS people
  FROM $predicates AS p
  LEFT JOIN $fits AS f ON f.class = p.class
  LEFT JOIN $tuples AS t ON t.target = f.target
  GROUP BY p.class
) AS counted
