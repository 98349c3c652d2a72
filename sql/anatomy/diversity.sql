-- name: anatomy/diversity
-- Describe the groups of an anatomy by their sensitive values: how many different, how large the share of one.
-- reads: sensitive (group_id, the sensitive columns, count; numbers or, from a CSV file, text)
-- holes: $l value, $sensitive relation
-- gives: rows, groups, smallest_group, fewest_values, unsafe_groups, unsafe_rows (in groups where one value has more than 1 / $l of the rows)
SELECT
  COALESCE(SUM(groups.n), 0) AS rows,
  COUNT(*) AS groups,
  MIN(groups.n) AS smallest_group,
  MIN(groups.different) AS fewest_values,
  COUNT(*) FILTER (WHERE NOT groups.safe) AS unsafe_groups,
  COALESCE(SUM(groups.n) FILTER (WHERE NOT groups.safe), 0) AS unsafe_rows
FROM (
  SELECT
    SUM(CAST(s.count AS BIGINT)) AS n,
    COUNT(*) AS different,
    COALESCE(MAX(CAST(s.count AS BIGINT)) * $l <= SUM(CAST(s.count AS BIGINT)), FALSE) AS safe
  FROM $sensitive AS s GROUP BY s.group_id
) AS groups
