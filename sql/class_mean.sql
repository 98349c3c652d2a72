-- name: class_mean
-- Take the mean of one numeric attribute in every class, each row counted.
-- reads: members (class, position, n = rows), positions (position, number)
-- holes: $members relation, $positions relation
-- gives: class, shown (NULL if a value of the class has no number)
SELECT
  m.class,
  CASE WHEN COUNT(*) = COUNT(p.number) THEN SUM(m.n * p.number) / SUM(m.n) END AS shown
FROM $members AS m JOIN $positions AS p ON p.position = m.position
GROUP BY m.class
