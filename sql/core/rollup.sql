-- name: core/rollup
-- Roll the frequency set up to the chosen levels of some attributes, the others kept on every level.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $frequency_set relation, $keys columns, $levels columns, $sums columns
-- gives: the same columns, fewer rows: keys distinct, higher levels that follow from them, n and losses added up
SELECT $keys, MIN($levels), CAST(SUM($sums) AS BIGINT)
FROM $frequency_set AS f GROUP BY $keys
