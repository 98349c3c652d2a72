-- Anatomy: quasi-identifiers and sensitive values in two tables (Xiao and Tao, 2006).

-- name: rows
-- Return the first table of an anatomy: every row without its sensitive values, with the number of its group.
SELECT g.group_id, $columns FROM $grouped AS g ORDER BY group_id, CAST($sorted AS TEXT), MD5(CAST($sorted AS TEXT));

-- name: sensitive
-- Count the sensitive values of every group: the second table of an anatomy.
-- columns: group_id, the sensitive columns, count (rows)
SELECT g.group_id, $columns, COUNT(*) AS count
FROM $grouped AS g GROUP BY g.group_id, $sensitive ORDER BY group_id, CAST($sensitive AS TEXT);

-- name: offenders
-- List the groups whose row count differs from their sensitive value counts, that one table lacks, or that have no number.
-- columns: group_id, surplus (rows minus counted values); empty if the two tables agree
SELECT h.group_id, SUM(h.n) AS surplus
FROM (
  SELECT CAST(r.group_id AS BIGINT) AS group_id, 1 AS n, 1 AS here, 0 AS there
  FROM $rows AS r
  UNION ALL
  SELECT CAST(s.group_id AS BIGINT) AS group_id, -CAST(s.count AS BIGINT) AS n, 0 AS here, 1 AS there
  FROM $sensitive AS s
) AS h
GROUP BY h.group_id
HAVING NOT COALESCE(SUM(h.n) = 0 AND SUM(h.here) > 0 AND SUM(h.there) > 0 AND COUNT(h.group_id) > 0, FALSE);

-- name: diversity
-- Summarize the diversity of an anatomy's groups: their distinct sensitive values, and the groups where one value is too frequent.
-- columns: rows, groups, smallest_group, fewest_values (distinct values of a group), unsafe_groups, unsafe_rows (in groups where one value has more than 1 / $l of the rows)
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
) AS groups;

-- name: groups
-- Deal the rows to the groups in turn, sorted by sensitive value and in random order within a value.
-- columns: the columns, group_id (1 … $groups; no group contains a value twice unless some value has more than $groups rows)
SELECT $columns, (ROW_NUMBER() OVER (ORDER BY $sensitive, d.digest) - 1) % $groups + 1 AS group_id
FROM (
  SELECT $columns, MD5(k.key || r.row_id) AS digest FROM $rows AS r CROSS JOIN (SELECT s.key FROM $key AS s) AS k
) AS d;
