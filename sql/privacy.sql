-- The classes of a release and the figures that privacy models judge them by.

-- name: homogeneous
-- Count the classes with a single sensitive value, their rows, and all rows with the most frequent value of their class.
SELECT
  COALESCE(SUM(CASE WHEN of_class.different = 1 THEN 1 ELSE 0 END), 0) AS classes,
  COALESCE(SUM(CASE WHEN of_class.different = 1 THEN of_class.most ELSE 0 END), 0) AS rows,
  COALESCE(SUM(of_class.most), 0) AS frequent
FROM (
  SELECT COUNT(*) AS different, MAX(of_value.n) AS most
  FROM (SELECT $quasi_identifiers, COUNT(*) AS n FROM $release AS r GROUP BY $quasi_identifiers, $value) AS of_value
  GROUP BY $names
) AS of_class;

-- name: homogeneous_people
-- Count the classes where all people share a sensitive value, with their rows and people; NULL counts as a value.
SELECT
  COALESCE(SUM(classed._of_class), 0) AS classes,
  COALESCE(SUM(classed.n), 0) AS rows,
  COUNT(DISTINCT classed._person) AS people
FROM (
  SELECT sized._person, sized.n, sized._of_class, sized._size, MAX(sized._same) OVER (PARTITION BY $names) AS _most
  FROM (
    SELECT
      $names, pairs._person, pairs.n,
      SUM(pairs._first) OVER (PARTITION BY $names) AS _size,
      COUNT(pairs._person) OVER (PARTITION BY $names, pairs._value) AS _same,
      CASE WHEN ROW_NUMBER() OVER (PARTITION BY $names ORDER BY pairs._value, pairs._person) = 1 THEN 1 ELSE 0 END
        AS _of_class
    FROM (
      SELECT
        $names, counted._value, counted._person, counted.n,
        CASE
          WHEN counted._person IS NULL THEN 0
          WHEN ROW_NUMBER() OVER (PARTITION BY $names, counted._person ORDER BY counted._value) = 1 THEN 1
          ELSE 0
        END AS _first
      FROM (
        SELECT $quasi_identifiers, $value AS _value, $unit AS _person, COUNT(*) AS n
        FROM $release AS r GROUP BY $quasi_identifiers, $value, $unit
      ) AS counted
    ) AS pairs
  ) AS sized
) AS classed
WHERE classed._size = classed._most;

-- name: reference_texts
-- Return the values of a reference as text, as a text file contains them.
-- columns: value (as text), and the figures as in the reference
SELECT CAST(r.value AS TEXT) AS value, $figures
FROM $reference AS r;

-- name: unknown_units
-- Count the rows that have no person: NULL in the unit column.
SELECT COUNT(*) - COUNT($unit) AS rows FROM $source AS s;

-- name: several_values
-- Count the people with several different values of a sensitive column; NULL counts as a value.
SELECT COUNT(*) AS people
FROM (
  SELECT having_values.person
  FROM (SELECT DISTINCT $unit AS person, $value AS value FROM $counted AS f) AS having_values
  WHERE NOT having_values.person IS NULL
  GROUP BY having_values.person
  HAVING COUNT(*) > 1
) AS several;

-- name: whole_table
-- Check whether all rows together, as one class, meet a privacy model, and compute what they achieve.
-- columns: unsafe (1 or 0), achieved (the model's own figure)
SELECT COUNT(*) FILTER (WHERE NOT whole.safe) AS unsafe, $achieved AS achieved
FROM (SELECT COALESCE($safe, FALSE) AS safe, $of_class AS of_class FROM $frequency_set AS f) AS whole;

-- name: occurring_texts
-- List the values of a sensitive column as text.
-- columns: value (text)
SELECT CAST(r.raw AS TEXT) AS value FROM $reference AS r;

-- name: class_rows
-- Count the rows of a release by all columns that its classes are judged by; 0.0 and -0.0, which are equal, count separately.
-- columns: the columns, n (rows)
SELECT $columns, COUNT(*) AS n FROM $release AS r GROUP BY $columns, COALESCE(CAST($columns AS TEXT), '');

-- name: released_people
-- Keep the source rows, with the labels of the release, whose class occurs in the release.
-- engines: duckdb
SELECT $columns, $hidden FROM $people AS p SEMI JOIN (SELECT DISTINCT $names FROM $released) AS r ON $same;

-- name: differing_rows
-- Count the kinds of rows that two releases contain in different numbers, whatever their types; $n and $n_other: the rows that each row stands for.
SELECT COUNT(*) AS differing
FROM (
  SELECT SUM(kinds.n) AS n
  FROM (
    SELECT CAST($columns AS TEXT), $n AS n FROM $one AS a
    UNION ALL
    SELECT CAST($columns AS TEXT), -$n_other AS n FROM $other AS b
  ) AS kinds
  GROUP BY $columns
  HAVING SUM(kinds.n) <> 0
) AS differences;

-- name: reference
-- Count every value of a sensitive column in the whole table, and all values up to it in sort order.
-- columns: value (in the form that classes use), raw (in its original form), overall_c, overall_c_to (rows up to the value), overall_size (all rows), overall_values, place (from 1)
SELECT
  counts.value AS value,
  counts.raw AS raw,
  counts.overall_c AS overall_c,
  CAST(SUM(counts.overall_c) OVER (ORDER BY counts.value ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS overall_c_to,
  CAST(SUM(counts.overall_c) OVER () AS BIGINT) AS overall_size,
  COUNT(*) OVER () AS overall_values,
  ROW_NUMBER() OVER (ORDER BY counts.value) AS place
FROM (
  SELECT $value AS value, $raw AS raw, CAST($rows AS BIGINT) AS overall_c FROM $counted AS f GROUP BY $value, $raw
) AS counts;

-- name: whole_people
-- Count the people of the whole table.
-- columns: overall_size (people)
SELECT CAST($people AS BIGINT) AS overall_size FROM $counted AS f;

-- name: written_values
-- List all spellings of the values of a sensitive column; equal values share a code.
-- columns: code (the same for equal values), value
SELECT DENSE_RANK() OVER (ORDER BY v.value) AS code, v.value AS value
FROM (SELECT $value AS value FROM $source AS s GROUP BY $value, MD5(CAST($value AS TEXT))) AS v;

-- name: mixed_values
-- Count the values that were written in several ways, the written forms that several values share, and the escaped formulas.
-- columns: parted, joined, escaped (with a ' before a character that starts a formula)
SELECT
  (SELECT COUNT(*) FROM (SELECT w.code FROM $written AS w GROUP BY w.code HAVING COUNT(DISTINCT w.value) > 1) AS p) AS parted,
  (SELECT COUNT(*) FROM (SELECT w.value FROM $written AS w GROUP BY w.value HAVING COUNT(DISTINCT w.code) > 1) AS j) AS joined,
  (SELECT COUNT(*) FROM $written AS w WHERE REGEXP_MATCHES(CAST(w.value AS TEXT), '^''+[=@+\t\r\n＝＠＋－-]')) AS escaped;
