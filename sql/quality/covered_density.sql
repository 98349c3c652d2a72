-- name: quality/covered_density
-- Add up, over all rows, the logarithm of how dense a release is at their values, whichever classes cover them.
-- reads: covered (tuple, n = rows, mass = rows of a class over the share of combinations that it may stand for)
-- holes: $covered relation, $rows value, $suppressed value
-- gives: logarithms (suppressed rows are spread over everything; NULL where nothing is released at a tuple)
SELECT
  CASE
    WHEN MIN(t.mass) + $suppressed > 0 THEN SUM(t.n * LN(NULLIF(t.mass + $suppressed, 0) / CAST($rows AS DOUBLE)))
  END AS logarithms
FROM (
  SELECT c.tuple, CAST(MIN(c.n) AS DOUBLE) AS n, COALESCE(SUM(c.mass), 0) AS mass FROM $covered AS c GROUP BY c.tuple
) AS t
