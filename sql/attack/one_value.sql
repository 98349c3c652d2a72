-- name: attack/one_value
-- Count the rows whose labels are shared by rows of one value alone; NULL is a value.
-- reads: class_values (the labels, value, n)
-- holes: $class_values relation, $known columns
-- gives: rows
SELECT COALESCE(SUM(groups.size), 0) AS rows
FROM (
  SELECT SUM(of_value.n) AS size
  FROM (SELECT $known, SUM(c.n) AS n FROM $class_values AS c GROUP BY $known, c.value) AS of_value
  GROUP BY $known HAVING COUNT(*) = 1
) AS groups
