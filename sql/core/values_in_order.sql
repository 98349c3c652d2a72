-- name: core/values_in_order
-- Number the distinct values of one quasi-identifier in their order, NULL left out: the codes of level 0.
-- reads: tuples (distinct quasi-identifier combinations)
-- holes: $column columns, $tuples relation
-- gives: value, code_0
SELECT v.value, CAST(ROW_NUMBER() OVER (ORDER BY v.value) - 1 AS INTEGER) AS code_0
FROM (SELECT $column AS value FROM $tuples AS t GROUP BY $column) AS v
WHERE v.value IS NOT NULL
