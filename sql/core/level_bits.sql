-- name: core/level_bits
-- Add up n * ln(n) over the labels of each level, n rows each: what the level's entropy is worked out from.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $frequency_set relation, $labels columns
-- gives: one sum per column of labels
SELECT COALESCE(SUM(CASE WHEN NOT $labels IS NULL THEN counted.n * LN(counted.n) END), 0)
FROM (
  SELECT $labels, CAST(SUM(f.n) AS DOUBLE) AS n
  FROM $frequency_set AS f WHERE f.n > 0 GROUP BY GROUPING SETS ($labels)
) AS counted
