-- name: attack/observed
-- Count the observations that fewer than k rows, or only one, may be.
-- reads: guesses (target, class, owner, n, weight, among)
-- holes: $guesses relation, $k value
-- gives: below, alone
SELECT
  COUNT(DISTINCT CASE WHEN g.among < $k THEN g.target END) AS below,
  COUNT(DISTINCT CASE WHEN g.among = 1 THEN g.target END) AS alone
FROM $guesses AS g
