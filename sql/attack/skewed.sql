-- name: attack/skewed
-- Count the rows of classes where some value's share is far above the one that it has in the whole release.
-- reads: counted (class, value, n), overall (value, n)
-- holes: $counted relation, $overall relation, $total value, $times value, $points value
-- gives: rows, classes (of those where a share is so many times as large, and larger by so much), largest (ratio, of all)
SELECT
  COALESCE(SUM(CASE WHEN k.skewed = 1 THEN k.size END), 0) AS rows,
  COALESCE(SUM(k.skewed), 0) AS classes,
  MAX(k.ratio) AS largest
FROM (
  SELECT
    SUM(s.n) AS size,
    MAX(s.posterior / s.prior) AS ratio,
    MAX(CASE WHEN s.posterior >= $times * s.prior AND s.posterior - s.prior >= $points THEN 1 ELSE 0 END) AS skewed
  FROM (
    SELECT
      c.class,
      c.n,
      c.n / CAST(SUM(c.n) OVER (PARTITION BY c.class) AS DOUBLE) AS posterior,
      o.n / CAST($total AS DOUBLE) AS prior
    FROM $counted AS c JOIN $overall AS o ON o.value = c.value
  ) AS s
  GROUP BY s.class
) AS k
