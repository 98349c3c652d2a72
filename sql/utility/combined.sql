-- name: utility/combined
-- Count the rows of the codes of up to three columns together; `nothing` stands for a column that is not asked.
-- reads: coded (a code per column, nothing, n)
-- holes: $coded relation, $subset value, $first columns, $second columns, $third columns
-- gives: subset, first, second, third, n
SELECT $subset AS subset, $first AS first, $second AS second, $third AS third, SUM(c.n) AS n
FROM $coded AS c
GROUP BY $first, $second, $third
