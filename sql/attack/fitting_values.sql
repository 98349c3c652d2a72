-- name: attack/fitting_values
-- Count the records that fit each target by their value.
-- reads: fits (target, class), values (class, value, n)
-- holes: $fits relation, $values relation
-- gives: target, value (a key), n
SELECT f.target, v.value, SUM(v.n) AS n
FROM $fits AS f JOIN $values AS v ON v.class = f.class
GROUP BY f.target, v.value
