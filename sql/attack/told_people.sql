-- name: attack/told_people
-- Count the people whose own value is much more probable in their part of the class, since some part must be unsafe.
-- reads: truth (world, home, part, the column, n), counted (world, home, part, the column, n), unsafe (world, home, part), chances (home, others: the probability that no other class has an unsafe part)
-- holes: $truth relation, $counted relation, $unsafe relation, $chances relation, $value columns, $worlds value, $none value, $margin value, $bound value
-- gives: people, certain, worst (gain)
SELECT
  COALESCE(SUM(CASE WHEN b.posterior > $bound AND b.posterior >= b.prior + $margin THEN b.n END), 0) AS people,
  COALESCE(SUM(CASE WHEN b.posterior >= 0.999 AND b.prior < 0.999 THEN b.n END), 0) AS certain,
  COALESCE(MAX(b.posterior - b.prior), 0) AS worst
FROM (
  SELECT
    t.n,
    t.prior,
    (COALESCE(a.share, 0) + (t.prior - COALESCE(a.share, 0)) * (1 - c.others)) / (1 - $none) AS posterior
  FROM (
    SELECT
      v.home,
      v.part,
      v.value,
      v.n,
      SUM(v.n) OVER (PARTITION BY v.home, v.value) / CAST(SUM(v.n) OVER (PARTITION BY v.home) AS DOUBLE) AS prior
    FROM (SELECT f.home, f.part, COALESCE('=' || CAST($value AS TEXT), '') AS value, SUM(f.n) AS n FROM $truth AS f GROUP BY f.home, f.part, $value) AS v
  ) AS t
  JOIN $chances AS c ON c.home = t.home
  LEFT JOIN (
    SELECT w.home, w.part, w.value, SUM(w.share) / CAST($worlds AS DOUBLE) AS share
    FROM (
      SELECT
        f.world,
        f.home,
        f.part,
        COALESCE('=' || CAST($value AS TEXT), '') AS value,
        f.n / CAST(SUM(f.n) OVER (PARTITION BY f.world, f.home, f.part) AS DOUBLE) AS share
      FROM $counted AS f
    ) AS w
    JOIN (SELECT DISTINCT u.world, u.home FROM $unsafe AS u) AS u ON u.world = w.world AND u.home = w.home
    GROUP BY w.home, w.part, w.value
  ) AS a ON a.home = t.home AND a.part = t.part AND a.value = t.value
) AS b
