-- name: attack/hidden_in_both
-- Count the people who stand among k in either of two releases.
-- reads: first (target, among), second (target, among), members (target, person, n)
-- holes: $first relation, $second relation, $members relation, $k value
-- gives: people
SELECT COALESCE(SUM(hidden.n), 0) AS people
FROM (
  SELECT DISTINCT m.person, m.n
  FROM $members AS m
  JOIN $first AS a ON a.target = m.target
  JOIN $second AS b ON b.target = m.target
  WHERE a.among >= $k AND b.among >= $k
) AS hidden
