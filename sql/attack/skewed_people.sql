-- name: attack/skewed_people
-- Count the people of classes where the share of people with some value is far above the one in the whole release.
-- reads: held (class, value, person), overall (value, n = people)
-- holes: $held relation, $overall relation, $total value, $times value, $points value
-- gives: people, classes (of those where a share is so many times as large, and larger by so much), largest (ratio, of all)
SELECT
  COUNT(DISTINCT CASE WHEN k.skewed = 1 THEN h.person END) AS people,
  COUNT(DISTINCT CASE WHEN k.skewed = 1 THEN k.class END) AS classes,
  MAX(k.ratio) AS largest
FROM $held AS h
JOIN (
  SELECT
    s.class,
    MAX(s.posterior / s.prior) AS ratio,
    MAX(CASE WHEN s.posterior >= $times * s.prior AND s.posterior - s.prior >= $points THEN 1 ELSE 0 END) AS skewed
  FROM (
    SELECT c.class, c.n / CAST(z.size AS DOUBLE) AS posterior, o.n / CAST($total AS DOUBLE) AS prior
    FROM (SELECT a.class, a.value, COUNT(DISTINCT a.person) AS n FROM $held AS a GROUP BY a.class, a.value) AS c
    JOIN (SELECT b.class, COUNT(DISTINCT b.person) AS size FROM $held AS b GROUP BY b.class) AS z ON z.class = c.class
    JOIN $overall AS o ON o.value = c.value
  ) AS s
  GROUP BY s.class
) AS k ON k.class = h.class
