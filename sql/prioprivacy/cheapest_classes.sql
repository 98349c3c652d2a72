-- name: prioprivacy/cheapest_classes
-- Choose for every tuple that is left over the class that it joins at the least loss, its own and the class's.
-- reads: matches (class, tuple, attribute, level, n, rows, loss), common (class, attribute, level, code, n, loss)
-- holes: $matches relation, $common relation
-- gives: tuple, class
-- engines: duckdb
SELECT tuple, class
FROM (
  SELECT m.tuple, m.class, ROW_NUMBER() OVER (PARTITION BY m.tuple ORDER BY SUM((m.n + m.rows) * m.loss - m.n * k.loss), m.class) AS place
  FROM (SELECT class, tuple, attribute, n, rows, MIN(loss) AS loss FROM $matches GROUP BY class, tuple, attribute, n, rows) AS m
  JOIN (SELECT class, attribute, MIN(loss) AS loss FROM $common GROUP BY class, attribute) AS k
    ON k.class = m.class AND k.attribute = m.attribute
  GROUP BY m.tuple, m.class
) AS placed
WHERE place = 1
