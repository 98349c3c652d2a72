-- name: attack/below
-- Count the people who stand among fewer than k, and those who stand alone.
-- reads: candidates (target, among), members (target, person, n)
-- holes: $candidates relation, $members relation, $k value
-- gives: below, alone
SELECT
  COALESCE(SUM(CASE WHEN found.among < $k THEN found.n ELSE 0 END), 0) AS below,
  COALESCE(SUM(CASE WHEN found.among = 1 THEN found.n ELSE 0 END), 0) AS alone
FROM (
  SELECT m.person, m.n, MIN(c.among) AS among
  FROM $candidates AS c
  JOIN $members AS m ON m.target = c.target
  GROUP BY m.person, m.n
) AS found
