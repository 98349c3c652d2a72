-- name: privacy/evidence_tuples
-- Number the tuples of a table and of evidence alike, whatever their equal values look like.
-- reads: rows (number, the values), evidence (number, the values)
-- holes: $rows relation, $evidence relation, $values columns
-- gives: of_table (1, or 0 of the evidence), number (of a row), tuple
SELECT known.of_table, known.number, DENSE_RANK() OVER (ORDER BY $values) AS tuple
FROM (
  SELECT 1 AS of_table, r.number, $values FROM $rows AS r
  UNION ALL
  SELECT 0 AS of_table, e.number, $values FROM $evidence AS e
) AS known
