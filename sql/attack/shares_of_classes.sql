-- name: attack/shares_of_classes
-- Give the share of each value among the people who fit a class.
-- reads: fits (target, class), values (class = a target, value, n)
-- holes: $fits relation, $values relation
-- gives: class, value (a key), share
SELECT f.class, v.value, SUM(v.n) / CAST(SUM(SUM(v.n)) OVER (PARTITION BY f.class) AS DOUBLE) AS share
FROM $fits AS f JOIN $values AS v ON v.class = f.target
GROUP BY f.class, v.value
