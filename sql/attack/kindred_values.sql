-- name: attack/kindred_values
-- Count the rows of classes that have several values, all of one group.
-- reads: counted (class, value, n), groups (value, kin: NULL for none)
-- holes: $counted relation, $groups relation
-- gives: rows, classes
SELECT COALESCE(SUM(k.size), 0) AS rows, COUNT(*) AS classes
FROM (
  SELECT SUM(c.n) AS size
  FROM $counted AS c JOIN $groups AS g ON g.value = c.value
  GROUP BY c.class
  HAVING COUNT(*) > 1 AND COUNT(g.kin) = COUNT(*) AND MIN(g.kin) = MAX(g.kin)
) AS k
