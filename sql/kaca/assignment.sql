-- name: kaca/assignment
-- Assign every tuple, or every part of one, to its class.
-- reads: tuples (tuple, the values' codes), parts (tuple, class, n)
-- holes: $tuples relation, $parts relation, $values columns
-- gives: the values' codes, n, class, first, last (the part's places among the tuple's rows, from 1)
-- engines: duckdb
SELECT $values, p.n, p.class, p.last - p.n + 1 AS first, p.last
FROM (
  SELECT tuple, class, n, CAST(SUM(n) OVER (PARTITION BY tuple ORDER BY class) AS BIGINT) AS last FROM $parts
) AS p
JOIN $tuples AS t ON t.tuple = p.tuple
