-- Figures of a source's columns and of sets of them, before any role is decided.

-- name: column
-- Describe one column by the classes of rows with equal values; NULL counts as a value.
-- columns: distinct_values, null_rows, unique_rows, unique_values (unique rows that are not NULL), smallest_class, largest_class, small_rows (rows in classes below $small), squares (sum of squared class sizes)
SELECT
  COUNT(*) AS distinct_values,
  COALESCE(SUM(classes.n) FILTER (WHERE classes.value IS NULL), 0) AS null_rows,
  COUNT(*) FILTER (WHERE classes.n = 1) AS unique_rows,
  COUNT(*) FILTER (WHERE classes.n = 1 AND NOT classes.value IS NULL) AS unique_values,
  MIN(classes.n) AS smallest_class,
  MAX(classes.n) AS largest_class,
  COALESCE(SUM(classes.n) FILTER (WHERE classes.n < $small), 0) AS small_rows,
  COALESCE(SUM(classes.n * classes.n), 0) AS squares
FROM $values AS classes;

-- name: first_values
-- Count the different values in the first rows of a column, to guess whether they differ in nearly all rows.
-- columns: different (values)
SELECT COUNT(DISTINCT f.value) AS different FROM (SELECT $column AS value FROM $source AS s LIMIT $most) AS f;

-- name: repeated_values
-- Count the values of a column that occur several times in its first rows; NULL is left out.
-- columns: repeated (values)
SELECT COUNT(*) AS repeated
FROM (
  SELECT f.value
  FROM (SELECT $column AS value FROM $source AS s LIMIT $most) AS f
  WHERE NOT f.value IS NULL GROUP BY f.value HAVING COUNT(*) > 1
) AS v;

-- name: filled
-- List the values of a column in all rows; NULL is left out.
-- columns: value
SELECT c.value FROM (SELECT $column AS value FROM $source AS s) AS c WHERE NOT c.value IS NULL;

-- name: fractions
-- Count the rows with a fractional number, to distinguish a measure from an integer in a float or decimal column.
-- columns: fractions (rows)
SELECT COUNT(*) AS fractions FROM (SELECT $column AS value FROM $source AS s) AS c WHERE c.value <> FLOOR(c.value);

-- name: sample
-- Choose some rows by their number, multiplied and squared modulo a prime, so that they follow no pattern of the table.
-- columns: the columns
SELECT $columns
FROM (SELECT $values, MOD(CAST(ROW_NUMBER() OVER () AS BIGINT) * 48271, 2147483647) AS mixed FROM $source AS s) AS numbered
WHERE MOD(numbered.mixed * numbered.mixed, 2147483647) * $one_of < 2147483647;

-- name: small_classes
-- Count the unique rows of a set of columns, and the rows in its classes below $small; NULL counts as a value.
-- columns: unique_rows, small_rows
SELECT
  COUNT(*) FILTER (WHERE classes.n = 1) AS unique_rows,
  COALESCE(SUM(classes.n) FILTER (WHERE classes.n < $small), 0) AS small_rows
FROM (SELECT COUNT(*) AS n FROM $rows AS r GROUP BY $columns) AS classes;

-- name: people_at_risk
-- Count some people, those with a row that only rows of theirs equal, and those with a row that rows of fewer than $small people equal. Only rows that fewer of the chosen people share have to be looked for in the table.
-- columns: people, unique_people, small_people
SELECT
  COUNT(*) AS people,
  COUNT(*) FILTER (WHERE smallest.n = 1) AS unique_people,
  COUNT(*) FILTER (WHERE smallest.n < $small) AS small_people
FROM (
  SELECT c.person, MIN(COALESCE(classes.n, $small)) AS n
  FROM (SELECT DISTINCT $names, $person AS person FROM $chosen AS r) AS c
  LEFT JOIN (
    SELECT $names, COUNT(*) AS n
    FROM (
      SELECT DISTINCT $names, $person AS person FROM $source AS s
      WHERE EXISTS (
        SELECT 1 AS found
        FROM (
          SELECT $names FROM (SELECT DISTINCT $names, $person AS person FROM $chosen AS o) AS own
          GROUP BY $names HAVING COUNT(*) < $small
        ) AS rare
        WHERE $equal
      )
    ) AS pairs
    GROUP BY $names
  ) AS classes ON $same
  GROUP BY c.person
) AS smallest;

-- name: numbered_values
-- Count the rows with each value of one column, and number the values: a mapping table without a hierarchy.
-- columns: value, n (rows), code_0 (1, 2, … in arbitrary order)
SELECT v.value, v.n, CAST(ROW_NUMBER() OVER () AS INTEGER) AS code_0
FROM (SELECT $column AS value, COUNT(*) AS n FROM $source AS s GROUP BY $column) AS v;

-- name: ordered_values
-- Number counted values in their order, so that the numbers are the same in every run.
-- columns: value, n (rows), code_0 (1, 2, …)
SELECT v.value, v.n, CAST(ROW_NUMBER() OVER (ORDER BY v.value) AS INTEGER) AS code_0 FROM $values AS v;

-- name: value_pairs
-- Count the rows with each pair of values of two quasi-identifiers.
-- columns: value, other, n (rows)
SELECT $column AS value, $other AS other, SUM(t.n) AS n FROM $tuples AS t GROUP BY $column, $other;

-- name: people
-- Count the people by the value of a column.
-- columns: value, n (people)
SELECT $column AS value, COUNT(DISTINCT $unit) AS n FROM $source AS s GROUP BY $column;
