-- name: attack/true_values
-- Count the people of each part of a class by their true sensitive values, as world 0.
-- reads: parts (row_id, home, part), copied (a copy of a table)
-- holes: $parts relation, $copied relation, $names columns, $columns columns
-- gives: world, home, part, the columns, n
SELECT 0 AS world, p.home, p.part, $columns, COUNT(*) AS n
FROM $parts AS p JOIN $copied AS r ON r.row_id = p.row_id
GROUP BY p.home, p.part, $names
