-- name: core/column_texts
-- List the distinct values of one quasi-identifier as they print, with the rows that hold each.
-- reads: tuples (distinct quasi-identifier combinations; n = rows)
-- holes: $column columns, $tuples relation
-- gives: value (text), n (rows)
SELECT CAST($column AS TEXT) AS value, CAST(SUM(t.n) AS BIGINT) AS n FROM $tuples AS t GROUP BY $column
