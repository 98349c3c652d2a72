-- name: prioprivacy/group_places
-- Put the groups that meet the privacy model in order: the largest first, the earlier transformation on ties.
-- reads: members (node, class, tuple), counted (tuple, n, and what the model counts by)
-- holes: $members relation, $counted relation, $safe predicate
-- gives: node, class, place (1, 2, …; equal ones share no tuple)
SELECT m.node, m.class, RANK() OVER (ORDER BY SUM(t.n) DESC, m.node) AS place
FROM $members AS m
JOIN $counted AS t ON t.tuple = m.tuple
GROUP BY m.node, m.class
HAVING COALESCE($safe, FALSE)
