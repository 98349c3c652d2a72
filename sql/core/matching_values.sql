-- name: core/matching_values
-- Find the data's own writings of values: a collation may hold several writings for one value.
-- reads: values (row, value), tuples (distinct quasi-identifier combinations)
-- holes: $values relation, $column columns, $tuples relation
-- gives: row, text
SELECT v.row, CAST(t.value AS TEXT) AS text
FROM $values AS v
INNER JOIN (
  SELECT MIN($column) AS value FROM $tuples AS t GROUP BY MD5(CAST($column AS TEXT))
) AS t ON t.value = v.value
