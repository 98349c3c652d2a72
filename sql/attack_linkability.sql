-- Linkability: whether two halves of a person's columns can be put together again.

-- name: shares_of_classes
-- Give the share of each value among the people who fit a class.
-- gives: class, value (a key), share
SELECT f.class, v.value, SUM(v.n) / CAST(SUM(SUM(v.n)) OVER (PARTITION BY f.class) AS DOUBLE) AS share
FROM $fits AS f JOIN $values AS v ON v.class = f.target
GROUP BY f.class, v.value;

-- name: matched_halves
-- Add up how often the row and the value at the same place of a group belong together, and how often they would in any order.
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
-- Number the rows of each group of a half in an order, with the class of each, as attack/classes numbers them.
-- gives: class, key (of the group), place (from 1)
-- engines: duckdb
SELECT
  DENSE_RANK() OVER (ORDER BY $labels) AS class,
  [COALESCE('=' || CAST($shared AS TEXT), '')] AS key,
  ROW_NUMBER() OVER (PARTITION BY $shared ORDER BY $order) AS place
FROM $release AS r;

-- name: half_values
-- Say which places of its group each value of a half takes in an order.
-- gives: key (of the group), value (a key), first, last (from 1)
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
-- Sum up how two halves of what is known of targets lead to one record, one of those that fit picked by each half.
-- gives: targets, same (expected picks of one record), others (the same without the target's own record)
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
-- Count for each target that fits any class how many fit, and their rows: the records that may be the target's.
SELECT f.target, COUNT(*) AS classes, SUM(k.n) AS records
FROM $fits AS f JOIN $classes AS k ON k.class = f.class
GROUP BY f.target;
