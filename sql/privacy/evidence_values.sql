-- name: privacy/evidence_values
-- Put the values of an attribute beside the tuples of a local recoding, by the mapping table; NULL where that has none.
-- reads: tuples (the columns, and the code of a value), mapping (value, code_0)
-- holes: $tuples relation, $mapping relation, $columns columns, $key columns, $value columns
-- gives: the columns, the value
SELECT $columns, $value
FROM (SELECT $columns, $key AS tuple_code FROM $tuples AS t) AS coded
LEFT JOIN (
  SELECT m.value AS found, m.code_0 AS found_code FROM $mapping AS m WHERE m.value IS NOT NULL
) AS known ON known.found_code = coded.tuple_code
