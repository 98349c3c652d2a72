-- name: prioprivacy/joint_levels
-- Find the lowest levels on which a class and all tuples that join it are equal.
-- reads: matches (class, tuple, attribute, level, n, rows, loss), chosen (tuple, class)
-- holes: $matches relation, $chosen relation
-- gives: class, attribute, level
-- engines: duckdb
SELECT class, attribute, MIN(level) AS level
FROM (
  SELECT m.class, m.attribute, m.level
  FROM $matches AS m
  JOIN $chosen AS j ON j.tuple = m.tuple AND j.class = m.class
  JOIN (SELECT class, COUNT(*) AS joined FROM $chosen GROUP BY class) AS s ON s.class = m.class
  GROUP BY m.class, m.attribute, m.level, s.joined
  HAVING COUNT(*) = s.joined
) AS joint
GROUP BY class, attribute
ORDER BY class, attribute
