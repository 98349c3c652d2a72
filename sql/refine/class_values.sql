-- name: refine/class_values
-- Count the rows of every class by their sensitive values.
-- reads: state (id, class), values (id, n rows, sensitive codes)
-- holes: $state relation, $values relation, $sensitive columns
-- gives: class, n, the sensitive codes
SELECT s.class, CAST(SUM(v.n) AS BIGINT) AS n, $sensitive
FROM $state AS s
JOIN $values AS v ON v.id = s.id
GROUP BY s.class, $sensitive
