-- name: minimality/redrawn
-- Draw another value for the rows of classes in which one is too frequent, from all rows that have another.
-- reads: marked (row_id, value, found, unsafe), draws (row_id, v; of the rows to be drawn for)
-- holes: $marked relation, $draws relation, $others value (rows that have another value)
-- gives: row_id, value (of every row)
SELECT m.row_id, CASE WHEN m.unsafe IS NULL THEN m.value ELSE other.value END AS value
FROM $marked AS m
LEFT JOIN (
  SELECT d.row_id, CAST(FLOOR(d.v * $others) AS BIGINT) AS place FROM $draws AS d
) AS drawn ON drawn.row_id = m.row_id
LEFT JOIN (
  SELECT o.value, ROW_NUMBER() OVER (ORDER BY o.value, o.row_id) - 1 AS place FROM $marked AS o WHERE o.found = 0
) AS other ON other.place = drawn.place
