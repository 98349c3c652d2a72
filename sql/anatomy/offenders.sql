-- name: anatomy/offenders
-- Name the groups whose rows and counted sensitive values disagree, or that one half of an anatomy lacks.
-- reads: rows (group_id, one row per released row), sensitive (group_id, count); numbers or, from a CSV file, text
-- holes: $rows relation, $sensitive relation
-- gives: group_id, surplus (rows less counts); none if the two halves fit
SELECT group_id, SUM(n) AS surplus
FROM (
  SELECT CAST(group_id AS BIGINT) AS group_id, 1 AS n, 1 AS here, 0 AS there FROM $rows
  UNION ALL
  SELECT CAST(group_id AS BIGINT) AS group_id, -CAST(count AS BIGINT) AS n, 0 AS here, 1 AS there FROM $sensitive
) AS halves
GROUP BY group_id
HAVING NOT COALESCE(SUM(n) = 0 AND SUM(here) > 0 AND SUM(there) > 0 AND COUNT(group_id) > 0, FALSE)
