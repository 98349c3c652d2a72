-- name: anatomy/diversity
-- Describe the groups of an anatomy by their sensitive values: how many different, how large the share of one.
-- reads: sensitive (group_id, the sensitive columns, count; numbers or, from a CSV file, text)
-- holes: $l value, $sensitive relation
-- gives: rows, groups, smallest_group, fewest_values, unsafe_groups, unsafe_rows (in groups where one value has more than 1 / $l of the rows)
SELECT
  COALESCE(SUM(n), 0) AS rows,
  COUNT(*) AS groups,
  MIN(n) AS smallest_group,
  MIN(different) AS fewest_values,
  COUNT(*) FILTER (WHERE NOT safe) AS unsafe_groups,
  COALESCE(SUM(n) FILTER (WHERE NOT safe), 0) AS unsafe_rows
FROM (
  SELECT
    SUM(CAST(count AS BIGINT)) AS n,
    COUNT(*) AS different,
    COALESCE(MAX(CAST(count AS BIGINT)) * $l <= SUM(CAST(count AS BIGINT)), FALSE) AS safe
  FROM $sensitive GROUP BY group_id
) AS groups
