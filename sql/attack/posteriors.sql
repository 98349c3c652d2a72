-- name: attack/posteriors
-- Compare the share that a value has in a class with the one that it has in the whole release.
-- reads: counted (class, value, n), overall (value, n)
-- holes: $counted relation, $overall relation, $rows value, $certain value, $gain value
-- gives: guessed (rows of their class's most frequent value), certain (rows whose value first has such a share in its class), gained, worst, mean
SELECT
  COALESCE(SUM(CASE WHEN p.place = 1 THEN p.n END), 0) AS guessed,
  COALESCE(SUM(CASE WHEN p.posterior >= $certain AND p.prior < $certain THEN p.n END), 0) AS certain,
  COALESCE(SUM(CASE WHEN p.posterior - p.prior >= $gain THEN p.n END), 0) AS gained,
  MAX(p.posterior - p.prior) AS worst,
  SUM(p.n * (p.posterior - p.prior)) / SUM(p.n) AS mean
FROM (
  SELECT
    c.n,
    ROW_NUMBER() OVER (PARTITION BY c.class ORDER BY c.n DESC, c.value) AS place,
    c.n / CAST(SUM(c.n) OVER (PARTITION BY c.class) AS DOUBLE) AS posterior,
    o.n / CAST($rows AS DOUBLE) AS prior
  FROM $counted AS c JOIN $overall AS o ON o.value = c.value
) AS p
