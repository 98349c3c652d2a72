-- name: core/class_mean
-- Take the mean of one numeric attribute in every class, each row counted.
-- reads: members (class, position, n = rows), positions (position, value, number)
-- holes: $members relation, $positions relation
-- gives: class, shown (NULL if a value of the class has no number, unless all are that one: NaN stays NaN)
SELECT
  m.class,
  CASE
    WHEN COUNT(*) = COUNT(p.number) THEN SUM(m.n * p.number) / SUM(m.n)
    WHEN COUNT(*) = 1 THEN MAX(CAST(p.value AS DOUBLE))
  END AS shown
FROM $members AS m JOIN $positions AS p ON p.position = m.position
GROUP BY m.class
