-- name: privacy/evidence_numbered
-- Number the rows of evidence.
-- reads: evidence (the columns)
-- holes: $evidence relation, $columns columns
-- gives: the columns, number
SELECT $columns, ROW_NUMBER() OVER (ORDER BY $columns) AS number FROM $evidence AS e
