-- name: core/class_median
-- Take the lower median of one ordered attribute in every class, each row counted: a value of the class itself.
-- reads: members (class, position, n = rows), positions (position, value)
-- holes: $members relation, $positions relation
-- gives: class, shown
SELECT m.class, p.value AS shown
FROM (
  SELECT class, MIN(position) AS position
  FROM (
    SELECT
      class,
      position,
      SUM(n) OVER (PARTITION BY class ORDER BY position) AS up_to,
      SUM(n) OVER (PARTITION BY class) AS size
    FROM $members
  ) AS counted
  WHERE 2 * up_to >= size
  GROUP BY class
) AS m JOIN $positions AS p ON p.position = m.position
