-- name: core/class_mode
-- Take the most frequent value of one attribute in every class, the first in order of those that tie.
-- reads: members (class, position, n = rows), positions (position, value)
-- holes: $members relation, $positions relation
-- gives: class, shown
SELECT m.class, p.value AS shown
FROM (
  SELECT m.class, m.position, ROW_NUMBER() OVER (PARTITION BY m.class ORDER BY m.n DESC, m.position) AS place
  FROM $members AS m
) AS m JOIN $positions AS p ON p.position = m.position
WHERE m.place = 1
