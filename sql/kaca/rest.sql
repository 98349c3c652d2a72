-- name: kaca/rest
-- List the tuples that have rows in classes that may not be released, with those rows alone.
-- reads: parts (tuple, class, n), counted (class, n, what the model counts by; or the same relation), tuples (tuple, the values' codes)
-- holes: $parts relation, $counted relation, $tuples relation, $values columns, $safe predicate
-- gives: tuple, the values' codes, n
-- engines: duckdb
SELECT p.tuple, $values, p.n
FROM (
  SELECT tuple, CAST(SUM(n) AS BIGINT) AS n
  FROM $parts
  WHERE class IN (SELECT class FROM $counted GROUP BY class HAVING NOT COALESCE($safe, FALSE))
  GROUP BY tuple
) AS p
JOIN (SELECT tuple, $values FROM $tuples) AS t ON t.tuple = p.tuple
