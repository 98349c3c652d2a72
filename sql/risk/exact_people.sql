-- name: risk/exact_people
-- Count the people with a row whose values in some columns nobody else has.
-- reads: source (the raw table, any shape)
-- holes: $unit columns, $columns columns, $values columns, $source relation
-- gives: singled_out (people), counted (all people)
SELECT
  COUNT(DISTINCT CASE WHEN pairs.first_person = pairs.last_person THEN pairs.person END) AS singled_out,
  COUNT(DISTINCT pairs.person) AS counted
FROM (
  SELECT
    cells.person,
    MIN(cells.person) OVER (PARTITION BY $values) AS first_person,
    MAX(cells.person) OVER (PARTITION BY $values) AS last_person
  FROM (SELECT DISTINCT $unit AS person, $columns FROM $source AS s) AS cells
) AS pairs
