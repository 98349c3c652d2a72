-- name: attack/members_of_people
-- List the people behind the known values: whoever has several rows may be behind several values.
-- reads: people (a copy of a table)
-- holes: $people relation, $columns columns, $unit columns
-- gives: target (as in attack/known_values), person, n (1)
SELECT DISTINCT keyed.target, keyed.person, 1 AS n
FROM (SELECT MIN(p.row_id) OVER (PARTITION BY $columns) AS target, $unit AS person FROM $people AS p) AS keyed
