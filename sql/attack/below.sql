-- name: attack/below
-- Count the people who stand among fewer than k, and those who stand alone.
-- reads: candidates (target, n, among)
-- holes: $candidates relation, $k value
-- gives: below, alone
SELECT
  COALESCE(SUM(CASE WHEN c.among < $k THEN c.n ELSE 0 END), 0) AS below,
  COALESCE(SUM(CASE WHEN c.among = 1 THEN c.n ELSE 0 END), 0) AS alone
FROM $candidates AS c
