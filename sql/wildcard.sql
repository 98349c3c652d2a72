-- Wildcard suppression: single cells replaced by `*`.

-- name: rows
-- Count the equal rows of a release, for comparison with the source.
-- columns: class (1, 2, …), n (rows), the names
SELECT CAST(ROW_NUMBER() OVER (ORDER BY $names) AS INTEGER) AS class, classes.n, $names
FROM (
  SELECT $names, COUNT(*) AS n
  FROM (SELECT CAST($quasi_identifiers AS TEXT) FROM $release AS r) AS cells
  GROUP BY $names
) AS classes;

-- name: summary
-- Check whether every released row equals enough others, or else matches enough original rows.
-- columns: rows, classes, smallest_class, unsafe_class_rows (in classes that are too small), smallest_fit (original rows), unsafe_rows (in such a class, and matching too few)
SELECT
  COALESCE(SUM(judged.size), 0) AS rows,
  COUNT(*) AS classes,
  MIN(judged.size) AS smallest_class,
  COALESCE(SUM(judged.size) FILTER (WHERE NOT judged.safe), 0) AS unsafe_class_rows,
  MIN(CASE WHEN judged.safe AND judged.size > judged.fits THEN judged.size ELSE judged.fits END) AS smallest_fit,
  COALESCE(SUM(judged.size) FILTER (WHERE NOT judged.safe AND NOT judged.fits_safe), 0) AS unsafe_rows
FROM (
  SELECT k.size, k.safe, COALESCE(f.fits, 0) AS fits, COALESCE(f.safe, FALSE) AS fits_safe
  FROM (SELECT r.class, SUM(r.n) AS size, COALESCE($safe, FALSE) AS safe FROM $rows AS r GROUP BY r.class) AS k
  LEFT JOIN $fits AS f ON f.class = k.class
) AS judged;

-- name: labels
-- Find the level of a released label: the highest one that creates it, since it may come from there.
-- columns: attribute, label, level (of rules), code
SELECT ranked.attribute, ranked.label, ranked.rule_level AS level, ranked.code
FROM (
  SELECT
    l.attribute,
    l.label,
    l.rule_level,
    l.code,
    ROW_NUMBER() OVER (PARTITION BY l.attribute, l.label ORDER BY l.rule_level DESC, l.code) AS place
  FROM $labels AS l
  WHERE l.code >= 0
) AS ranked
WHERE ranked.place = 1;

-- name: patterns
-- Number the patterns of a release: rows whose cells are on the same levels share a pattern.
-- columns: pattern (0, 1, …), class, the levels, the codes
SELECT CAST(DENSE_RANK() OVER (ORDER BY $levels) - 1 AS INTEGER) AS pattern, r.class, $levels, $codes FROM $readings AS r;

-- name: fits
-- Count the original rows that every released row of one pattern matches.
-- columns: class, fits (original rows), safe (whether they meet the privacy model)
-- engines: duckdb
SELECT
  UNNEST(LIST(class) FILTER (WHERE NOT class IS NULL)) AS class,
  CAST(SUM(n) AS BIGINT) AS fits,
  COALESCE($safe, FALSE) AS safe
FROM $frequency_set
WHERE pattern IS NULL OR pattern = $node
GROUP BY $levels;

-- name: levels
-- List the patterns of a release by the levels of their cells.
SELECT p.pattern, $levels FROM $patterns AS p GROUP BY p.pattern, $levels ORDER BY pattern;
