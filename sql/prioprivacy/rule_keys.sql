-- name: prioprivacy/rule_keys
-- Count the rows of every distinct tuple, by the codes of its values alone.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $columns columns, $frequency_set relation
-- gives: the columns, n (rows)
SELECT $columns, CAST(SUM(f.n) AS BIGINT) AS n FROM $frequency_set AS f GROUP BY $columns
