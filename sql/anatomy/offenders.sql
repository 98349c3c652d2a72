-- name: anatomy/offenders
-- Name the groups whose rows and counted sensitive values disagree, or that one of the two tables lacks.
-- reads: rows (group_id, one row per released row), sensitive (group_id, count); numbers or, from a CSV file, text
-- holes: $rows relation, $sensitive relation
-- gives: group_id, surplus (rows less counts); none if the two halves fit
SELECT h.group_id, SUM(h.n) AS surplus
FROM (
  SELECT CAST(r.group_id AS BIGINT) AS group_id, 1 AS n, 1 AS here, 0 AS there
  FROM $rows AS r
  UNION ALL
  SELECT CAST(s.group_id AS BIGINT) AS group_id, -CAST(s.count AS BIGINT) AS n, 0 AS here, 1 AS there
  FROM $sensitive AS s
) AS h
GROUP BY h.group_id
HAVING NOT COALESCE(SUM(h.n) = 0 AND SUM(h.here) > 0 AND SUM(h.there) > 0 AND COUNT(h.group_id) > 0, FALSE)
