-- name: refine/pair_values
-- List the rows that each class would have with the tuple that wants to join it, by their sensitive values.
-- reads: pairs (pair, id, target), class_values (class, n, sensitive codes), values (id, n, sensitive codes)
-- holes: $pairs relation, $class_values relation, $values relation, $sensitive columns
-- gives: pair, n, the sensitive codes
SELECT p.pair, k.n, $sensitive FROM $pairs AS p JOIN $class_values AS k ON k.class = p.target
UNION ALL
SELECT p.pair, v.n, $sensitive FROM $pairs AS p JOIN $values AS v ON v.id = p.id
