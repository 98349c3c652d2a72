-- name: suggestion/beside
-- Count the rows that hold each pair of values of two quasi-identifiers.
-- reads: tuples (distinct quasi-identifier combinations; n = rows)
-- holes: $column columns, $other columns, $tuples relation
-- gives: value, beside, n (rows)
SELECT $column AS value, $other AS beside, SUM(t.n) AS n FROM $tuples AS t GROUP BY $column, $other
