-- name: attack/kindred_people
-- Count the people of classes that have several values, all of one group.
-- reads: held (class, value, person), groups (value, kin: NULL for none)
-- holes: $held relation, $groups relation
-- gives: people, classes
SELECT COUNT(DISTINCT h.person) AS people, COUNT(DISTINCT h.class) AS classes
FROM $held AS h
JOIN (
  SELECT c.class
  FROM $held AS c JOIN $groups AS g ON g.value = c.value
  GROUP BY c.class
  HAVING COUNT(DISTINCT c.value) > 1 AND COUNT(g.kin) = COUNT(*) AND MIN(g.kin) = MAX(g.kin)
) AS k ON k.class = h.class
