-- name: core/node_bits
-- Add up n * ln(n) over the labels of the rows at risk of one node, n such rows each, attribute by attribute.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $frequency_set relation, $labels columns, $safe predicate
-- gives: rows_at_risk, one sum per column of labels
SELECT
  COALESCE(MAX(counted.n), 0) AS rows_at_risk,
  COALESCE(SUM(CASE WHEN NOT $labels IS NULL THEN counted.n * LN(counted.n) END), 0)
FROM (
  SELECT $labels, CAST(SUM(at_risk.size) AS DOUBLE) AS n
  FROM (
    SELECT $labels, SUM(f.n) AS size
    FROM $frequency_set AS f GROUP BY $labels HAVING NOT COALESCE($safe, FALSE)
  ) AS at_risk
  WHERE at_risk.size > 0
  GROUP BY GROUPING SETS ($labels, ())
) AS counted
