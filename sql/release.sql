-- A full-domain release: its classes, its values and its checks.

-- name: as_texts
-- Return columns of a relation, some of them as text, as a text file contains them.
SELECT CAST($texts AS TEXT), $columns FROM $relation AS r;

-- name: class_summary
-- Check the classes of each size, or kind, against the model, and count the unsafe ones.
-- columns: rows, classes, smallest_class, unsafe_classes, unsafe_rows, achieved (the model's own figure, for the worst class)
SELECT
  COALESCE(SUM(classes.size * classes.weight), 0) AS rows,
  COALESCE(SUM(classes.weight), 0) AS classes,
  MIN(classes.size) AS smallest_class,
  COALESCE(SUM(classes.weight) FILTER (WHERE NOT classes.safe), 0) AS unsafe_classes,
  COALESCE(SUM(classes.size * classes.weight) FILTER (WHERE NOT classes.safe), 0) AS unsafe_rows,
  $achieved AS achieved
FROM (
  SELECT
    SUM(kinds._rows) AS size, MAX(kinds._weight) AS weight, COALESCE($safe, FALSE) AS safe, $of_class AS of_class
  FROM $kinds AS kinds
  GROUP BY kinds._kind
) AS classes;

-- name: class_sizes
-- Count the equivalence classes of each size, directly in a released relation: the independent check.
-- columns: size (rows in a class), classes (of this size), smallest size first
SELECT classes.size, COUNT(*) AS classes
FROM (SELECT COUNT(*) AS size FROM $release AS r GROUP BY $quasi_identifiers) AS classes
GROUP BY classes.size
ORDER BY size;

-- name: released_values
-- List the values of an attribute that occur in the source, by their codes, and whether a class contains a row with each.
-- columns: code, released (1 or 0)
SELECT o.code, CASE WHEN r.code IS NULL THEN 0 ELSE 1 END AS released
FROM (SELECT DISTINCT $key AS code FROM $frequency_set AS f WHERE f.n > 0) AS o
LEFT JOIN (SELECT DISTINCT $key AS code FROM $assignment AS a WHERE a.n > 0 AND NOT a.class IS NULL) AS r ON r.code = o.code;

-- name: miscounted
-- Count the tuples, counted elsewhere, that have less than one row.
SELECT COUNT(*) AS tuples FROM (SELECT $rows AS n FROM $source AS s) AS counted WHERE COALESCE(counted.n, 0) < 1;

-- name: digest
-- Compute a fingerprint of a relation that does not depend on its order: its rows, and sums of digits of every row's hash.
SELECT
  COUNT(*) AS rows,
  SUM(ASCII(SUBSTR(h.hashed, 1, 1)) + 128 * ASCII(SUBSTR(h.hashed, 2, 1)) + 16384 * ASCII(SUBSTR(h.hashed, 3, 1))) AS sum_1,
  SUM(ASCII(SUBSTR(h.hashed, 4, 1)) + 128 * ASCII(SUBSTR(h.hashed, 5, 1)) + 16384 * ASCII(SUBSTR(h.hashed, 6, 1))) AS sum_2,
  SUM(ASCII(SUBSTR(h.hashed, 7, 1)) + 128 * ASCII(SUBSTR(h.hashed, 8, 1)) + 16384 * ASCII(SUBSTR(h.hashed, 9, 1))) AS sum_3,
  SUM(ASCII(SUBSTR(h.hashed, 10, 1)) + 128 * ASCII(SUBSTR(h.hashed, 11, 1)) + 16384 * ASCII(SUBSTR(h.hashed, 12, 1))) AS sum_4
FROM (SELECT MD5(c.content) AS hashed FROM $contents AS c) AS h;
