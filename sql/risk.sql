-- Risks of a release or a source.

-- name: exact_rows
-- Count the rows with a unique combination of values in some columns.
-- columns: singled_out (rows), counted (all rows)
SELECT COUNT(*) FILTER (WHERE classes.n = 1) AS singled_out, SUM(classes.n) AS counted
FROM (SELECT COUNT(*) AS n FROM $source AS s GROUP BY $columns) AS classes;

-- name: exact_people
-- Count the people with a row whose values in some columns no other person has.
-- columns: singled_out (people), counted (all people)
SELECT alone.singled_out, everybody.counted
FROM (
  SELECT COUNT(DISTINCT classes.first_person) AS singled_out
  FROM (
    SELECT MIN(cells.person) AS first_person, MAX(cells.person) AS last_person
    FROM (SELECT $unit AS person, $columns FROM $source AS s) AS cells
    GROUP BY $values
  ) AS classes
  WHERE classes.first_person = classes.last_person
) AS alone
CROSS JOIN (SELECT COUNT(DISTINCT people.person) AS counted FROM (SELECT $unit AS person FROM $source AS s) AS people) AS everybody;

-- name: values
-- Sample counted values of one column as text, by the order of their digests; NULL is left out.
-- columns: value, n (rows)
SELECT texts.value, texts.n
FROM (SELECT CAST(v.value AS TEXT) AS value, v.n FROM $values AS v WHERE NOT v.value IS NULL) AS texts
ORDER BY MD5(texts.value)
LIMIT $most;

-- name: constant_columns
-- Count the repeated values of a key column, and those of them that have only one value, or none, in each of the other columns.
-- columns: repeated (values of the key in two rows or more), per column how many of these do not have two values
SELECT COUNT(*) AS repeated, SUM($values)
FROM (
  SELECT CASE WHEN MIN($values) = MAX($values) OR MIN($values) IS NULL THEN 1 ELSE 0 END
  FROM (SELECT $key AS key_value, $columns FROM $source AS s) AS cells
  WHERE NOT cells.key_value IS NULL
  GROUP BY cells.key_value
  HAVING COUNT(*) >= 2
) AS key_values;
