-- name: core/column_values
-- List the distinct values of one quasi-identifier, with the rows that hold each.
-- reads: tuples (distinct quasi-identifier combinations; n = rows)
-- holes: $column columns, $tuples relation
-- gives: value, n (rows)
SELECT $column AS value, CAST(SUM(t.n) AS BIGINT) AS n FROM $tuples AS t GROUP BY $column
