-- name: profile/codes
-- Number the values of one column: a mapping table without a hierarchy, NULL left out.
-- reads: tuples (distinct combinations of values, any shape)
-- holes: $column columns, $tuples relation
-- gives: value, code_0 (1, 2, … in no order that means anything)
SELECT v.value, CAST(ROW_NUMBER() OVER () AS INTEGER) AS code_0
FROM (SELECT $column AS value FROM $tuples AS t GROUP BY $column) AS v
WHERE NOT v.value IS NULL
