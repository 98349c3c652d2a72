-- name: privacy/people_by_class
-- Count the people of a table by the size of the smallest class that each of them is in: everybody once.
-- reads: release (any relation that holds the quasi-identifiers and the people's column)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $unit columns
-- gives: size (people in the class), people
SELECT least.size, COUNT(*) AS people
FROM (
  SELECT MIN(pairs.size) AS size
  FROM (
    SELECT seen._unit, COUNT(*) OVER (PARTITION BY $names) AS size
    FROM (SELECT DISTINCT $quasi_identifiers, $unit AS _unit FROM $release AS r) AS seen
  ) AS pairs
  GROUP BY pairs._unit
) AS least
GROUP BY least.size
ORDER BY size
