-- name: attack/shared_bounds
-- Bound how many rows two classes of two releases of the same rows share, by the values that both have.
-- reads: overlaps (target = a class of the first, class = one of the second), first (class, value, n), second (class, value, n)
-- holes: $overlaps relation, $first relation, $second relation
-- gives: first, second, least, most, different (values)
SELECT bounded.first, bounded.second, SUM(bounded.least) AS least, SUM(bounded.most) AS most, COUNT(*) AS different
FROM (
  SELECT
    matched.first, matched.second, matched.most,
    GREATEST(
      0,
      matched.firsts + matched.most - SUM(matched.most) OVER (PARTITION BY matched.first, matched.value),
      matched.seconds + matched.most - SUM(matched.most) OVER (PARTITION BY matched.second, matched.value)
    ) AS least
  FROM (
    SELECT o.target AS first, o.class AS second, a.value, a.n AS firsts, b.n AS seconds, LEAST(a.n, b.n) AS most
    FROM $overlaps AS o
    JOIN $first AS a ON a.class = o.target
    JOIN $second AS b ON b.class = o.class AND b.value = a.value
  ) AS matched
) AS bounded
GROUP BY bounded.first, bounded.second
