-- name: attack/known_tuples
-- Count the people of a table by what is known of them, and how many of them are in the source.
-- reads: people (a copy of a table), source (a copy of the source)
-- holes: $people relation, $source relation, $columns columns, $unit columns
-- gives: target (a number), the columns, people, known
SELECT ROW_NUMBER() OVER (ORDER BY $columns) AS target, $columns, COUNT(*) AS people, COUNT(s.known_unit) AS known
FROM (SELECT $columns, $unit AS unit FROM $people AS q) AS p
LEFT JOIN (SELECT DISTINCT $unit AS known_unit FROM $source AS r) AS s ON s.known_unit = p.unit
GROUP BY $columns
