-- name: quality/apart_density
-- Add up, over released rows whose classes cover no value in common, the logarithm of how dense a release is at their values.
-- reads: cells (n = rows, class, share = logarithm of the share of all combinations of leaves)
-- holes: $cells relation, $rows value, $suppressed value
-- gives: logarithms (a class is spread over what it may stand for, suppressed rows over everything)
SELECT
  COALESCE(SUM(k.n * (LN(k.n / CAST($rows AS DOUBLE)) - k.share + LN(1 + $suppressed / k.n * EXP(k.share)))), 0)
    AS logarithms
FROM (
  SELECT c.class, CAST(SUM(c.n) AS DOUBLE) AS n, MIN(c.share) AS share FROM $cells AS c GROUP BY c.class
) AS k
