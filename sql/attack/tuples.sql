-- name: attack/tuples
-- Count the people of a table by what is known of them.
-- reads: people (a copy of a table)
-- holes: $people relation, $columns columns
-- gives: target (a number), the columns, people, known (how many of them may be in the release: all)
SELECT ROW_NUMBER() OVER (ORDER BY $columns) AS target, $columns, COUNT(*) AS people, COUNT(*) AS known
FROM $people AS p
GROUP BY $columns
