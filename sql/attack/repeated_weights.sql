-- name: attack/repeated_weights
-- Count the values that have more than one weight for somebody.
-- reads: weights (target, value, weight)
-- holes: $weights relation
-- gives: values
SELECT COUNT(DISTINCT twice.value) AS values
FROM (SELECT w.value FROM $weights AS w GROUP BY w.target, w.value HAVING COUNT(*) > 1) AS twice
