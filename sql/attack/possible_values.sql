-- name: attack/possible_values
-- Count the values that each target may have by the classes that it may stand in.
-- reads: fits (target, classes), values (class, value)
-- holes: $fits relation, $class columns, $values relation
-- gives: target, different (values), value (the first of them)
SELECT f.target, COUNT(DISTINCT v.value) AS different, MIN(v.value) AS value
FROM (SELECT DISTINCT p.target, $class AS class FROM $fits AS p) AS f
JOIN $values AS v ON v.class = f.class
GROUP BY f.target
