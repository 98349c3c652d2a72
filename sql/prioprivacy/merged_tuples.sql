-- name: prioprivacy/merged_tuples
-- List the tuples of the classes that have become one with others.
-- reads: joined (class, tuple, n), numbered (class, tuple: the classes of before)
-- holes: $joined relation, $numbered relation
-- gives: class, tuple, n
SELECT j.class, j.tuple, j.n
FROM $joined AS j
WHERE j.class IN (
  SELECT m.class
  FROM $joined AS m
  JOIN $numbered AS c ON c.tuple = m.tuple
  GROUP BY m.class
  HAVING MIN(c.class) < MAX(c.class)
)
