-- name: privacy/evidence_shown_whole
-- Show the rows of a table as evidence says of their tuples.
-- reads: rows (number, place, what is counted), tuples (of_table, number, tuple), evidence (number, what is shown)
-- holes: $rows relation, $tuples relation, $evidence relation, $shown columns, $counted columns
-- gives: number, what is shown, what is counted
SELECT r.number, $shown, $counted
FROM $rows AS r
JOIN $tuples AS own ON own.of_table = 1 AND own.number = r.number
JOIN $tuples AS other ON other.of_table = 0 AND other.tuple = own.tuple
JOIN $evidence AS e ON e.number = other.number
