-- name: core/matching_values
-- Find the data's own writing of values: a collation may hold two writings for one value.
-- reads: values (row, value), tuples (distinct quasi-identifier combinations)
-- holes: $values relation, $column columns, $tuples relation
-- gives: row, text
SELECT v.row, MIN(CAST(t.value AS TEXT)) AS text
FROM $values AS v
INNER JOIN (SELECT $column AS value FROM $tuples AS t GROUP BY $column) AS t ON t.value = v.value
GROUP BY v.row
