-- name: prioprivacy/counted_values
-- Count the rows of every tuple by its sensitive values; the tuples have the numbers of prioprivacy/numbered_tuples.
-- reads: frequency_set (one row per distinct tuple and combination of sensitive values; n = rows; integer columns)
-- holes: $keys columns, $values columns, $frequency_set relation
-- gives: tuple, n, the values
SELECT CAST(DENSE_RANK() OVER (ORDER BY $keys) AS INTEGER) AS tuple, f.n, $values FROM $frequency_set AS f
