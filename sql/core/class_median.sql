-- name: core/class_median
-- Take the lower median of one ordered attribute in every class, each row counted: a value of the class itself.
-- reads: members (class, position, n = rows), positions (position, value)
-- holes: $members relation, $positions relation
-- gives: class, shown
SELECT m.class, p.value AS shown
FROM (
  SELECT counted.class, MIN(counted.position) AS position
  FROM (
    SELECT
      m.class,
      m.position,
      SUM(m.n) OVER (PARTITION BY m.class ORDER BY m.position) AS up_to,
      SUM(m.n) OVER (PARTITION BY m.class) AS size
    FROM $members AS m
  ) AS counted
  WHERE 2 * counted.up_to >= counted.size
  GROUP BY counted.class
) AS m JOIN $positions AS p ON p.position = m.position
