-- name: mondrian/cells
-- Count the rows of every value of every attribute in every open partition.
-- reads: open (level-0 columns, n = rows, class), places (attribute, code, position, number, range, most, weight)
-- holes: $codes columns, $count value, $open relation, $places relation
-- gives: class, attribute, code, position, number, range, most, weight, n
-- engines: duckdb
SELECT c.class, c.attribute, c.code, p.position, p.number, p.range, p.most, p.weight, c.n
FROM (
  SELECT class, attribute, code, CAST(SUM(n) AS BIGINT) AS n
  FROM (SELECT class, n, UNNEST(RANGE($count)) AS attribute, UNNEST([$codes]) AS code FROM $open) AS cells
  GROUP BY class, attribute, code
) AS c
INNER JOIN $places AS p ON p.attribute = c.attribute AND p.code = c.code
