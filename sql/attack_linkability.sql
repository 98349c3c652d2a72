-- Linkability: whether two halves of a person's columns can be rejoined.

-- name: values_of_tuples
-- Count the rows of each combination of the attacker's values by the value of one column, encoded as a key that is never NULL.
-- columns: class (the number of the combination as in attack_linkage/tuples), value (a key), n (rows)
SELECT ranked.class, ranked.value, COUNT(*) AS n
FROM (
  SELECT DENSE_RANK() OVER (ORDER BY $columns) AS class, COALESCE('=' || CAST($value AS TEXT), '') AS value
  FROM $source AS r
) AS ranked
GROUP BY ranked.class, ranked.value;

-- name: shares_of_classes
-- Compute the share of each value among the people who match a class.
-- columns: class, value (a key), share
SELECT f.class, v.value, SUM(v.n) / CAST(SUM(SUM(v.n)) OVER (PARTITION BY f.class) AS DOUBLE) AS share
FROM $fits AS f JOIN $values AS v ON v.class = f.target
GROUP BY f.class, v.value;

-- name: matched_halves
-- Add up how often the row and the value at the same position of a group belong together, and how often they would in a random order.
SELECT
  COUNT(DISTINCT CASE WHEN p.here THEN p.number END) AS rows,
  COALESCE(SUM(CASE WHEN p.here THEN p.share END), 0) AS right,
  COALESCE(SUM(p.share * p.n / CAST(p.size AS DOUBLE)), 0) AS expected
FROM (
  SELECT
    r.number,
    r.place BETWEEN v.first AND v.last AS here,
    v.last - v.first + 1 AS n,
    SUM(v.last - v.first + 1) OVER (PARTITION BY r.number) AS size,
    COALESCE(s.share, 0) AS share
  FROM (SELECT h.class, h.key, h.place, ROW_NUMBER() OVER (ORDER BY h.key, h.place) AS number FROM $rows AS h) AS r
  JOIN $values AS v ON v.key = r.key
  LEFT JOIN $shares AS s ON s.class = r.class AND s.value = v.value
) AS p;

-- name: half_rows
-- Number the rows within each group of a half in a given order, with their classes as numbered in attack_matching/classes.
-- columns: class, key (of the group), place (from 1)
-- engines: duckdb
SELECT
  DENSE_RANK() OVER (ORDER BY $labels) AS class,
  [COALESCE('=' || CAST($shared AS TEXT), '')] AS key,
  ROW_NUMBER() OVER (PARTITION BY $shared ORDER BY $order) AS place
FROM $release AS r;

-- name: half_values
-- Find the positions that each value of a half takes within its group in a given order.
-- columns: key (of the group), value (a key), first, last (from 1)
-- engines: duckdb
SELECT h.key, h.value, h.last - h.n + 1 AS first, h.last
FROM (
  SELECT
    [COALESCE('=' || CAST($shared AS TEXT), '')] AS key,
    COALESCE('=' || CAST($value AS TEXT), '') AS value,
    CAST($count AS BIGINT) AS n,
    SUM(CAST($count AS BIGINT)) OVER (PARTITION BY $shared ORDER BY $order) AS last
  FROM $half AS h
) AS h;

-- name: halves
-- Add up how likely two halves of a target's values lead to the same record if each half picks one of its matching records at random.
-- columns: targets, same (expected number of equal picks), others (the same without the target's own record)
SELECT
  COUNT(*) AS targets,
  COALESCE(SUM(CAST(b.records AS DOUBLE PRECISION) / x.records / y.records), 0) AS same,
  COALESCE(
    SUM(CAST(b.records - 1 AS DOUBLE PRECISION) / NULLIF(x.records - 1, 0) / NULLIF(y.records - 1, 0)), 0
  ) AS others
FROM $both AS b
JOIN $one AS x ON x.target = b.target
JOIN $other AS y ON y.target = b.target;

-- name: candidates
-- Count, for each target that matches any class, these classes and their rows: the records that may be the target's.
SELECT f.target, COUNT(*) AS classes, SUM(k.n) AS records
FROM $fits AS f JOIN $classes AS k ON k.class = f.class
GROUP BY f.target;
