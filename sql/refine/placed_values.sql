-- name: refine/placed_values
-- List the rows of tuples that are placed, by their sensitive values.
-- reads: placed (id, and where it is: class or key), values (id, n rows, sensitive codes)
-- holes: $placed relation, $values relation, $columns columns
-- gives: n, the columns (of where, and the sensitive codes)
SELECT v.n, $columns FROM $placed AS p JOIN $values AS v ON v.id = p.id
