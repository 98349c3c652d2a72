-- name: kaca/parts
-- Move the parts of tuples along: each class's rows stand in a line, and a link takes a stretch of it elsewhere.
-- reads: parts (tuple, class, n), links (class, goes_to, low, high: the rows after low up to high), same (class, one)
-- holes: $parts relation, $links relation, $same relation
-- gives: tuple, class, n
-- engines: duckdb
SELECT
  p.tuple,
  s.one AS class,
  CAST(SUM(LEAST(p.high, l.high) - GREATEST(p.high - p.n, l.low)) AS BIGINT) AS n
FROM (
  SELECT tuple, class, n, CAST(SUM(n) OVER (PARTITION BY class ORDER BY n, tuple) AS BIGINT) AS high
  FROM $parts
) AS p
JOIN $links AS l ON l.class = p.class AND l.low < p.high AND l.high > p.high - p.n
JOIN $same AS s ON s.class = l.goes_to
GROUP BY p.tuple, s.one
