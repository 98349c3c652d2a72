-- name: privacy/several_values
-- Count the people who have several different values of a sensitive column; NULL is a value.
-- reads: counted (any relation that has both columns)
-- holes: $counted relation, $unit columns, $value columns
-- gives: people
SELECT COUNT(*) AS people
FROM (
  SELECT having_values.person
  FROM (SELECT DISTINCT $unit AS person, $value AS value FROM $counted AS f) AS having_values
  WHERE NOT having_values.person IS NULL
  GROUP BY having_values.person
  HAVING COUNT(*) > 1
) AS several
