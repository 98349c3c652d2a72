-- name: attack/ruling_out
-- Count the rows whose value is certain once so many other values of their class are ruled out, and what the most frequent other one is worth.
-- reads: counted (class, value, n)
-- holes: $counted relation
-- gives: after_1, after_2, after_3 (rows certain after so many values), classes (after one), worst, mean (posterior of the rows' own values)
SELECT
  COALESCE(SUM(CASE WHEN s.kinds <= 2 THEN s.n END), 0) AS after_1,
  COALESCE(SUM(CASE WHEN s.kinds <= 3 THEN s.n END), 0) AS after_2,
  COALESCE(SUM(CASE WHEN s.kinds <= 4 THEN s.n END), 0) AS after_3,
  COUNT(DISTINCT CASE WHEN s.kinds <= 2 THEN s.class END) AS classes,
  MAX(CAST(s.n AS DOUBLE) / (s.size - s.other)) AS worst,
  SUM(s.n * CAST(s.n AS DOUBLE) / (s.size - s.other)) / SUM(s.n) AS mean
FROM (
  SELECT
    c.class,
    c.n,
    COUNT(*) OVER (PARTITION BY c.class) AS kinds,
    SUM(c.n) OVER (PARTITION BY c.class) AS size,
    CASE
      WHEN ROW_NUMBER() OVER (PARTITION BY c.class ORDER BY c.n DESC, c.value) > 1
        THEN MAX(c.n) OVER (PARTITION BY c.class)
      ELSE COALESCE(LEAD(c.n) OVER (PARTITION BY c.class ORDER BY c.n DESC, c.value), 0)
    END AS other
  FROM $counted AS c
) AS s
