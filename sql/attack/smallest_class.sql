-- name: attack/smallest_class
-- Count the people of the smallest class of a release that shows who they are.
-- reads: release (a copy of a release)
-- holes: $release relation, $labels columns, $unit columns
-- gives: people
SELECT MIN(sizes.people) AS people
FROM (SELECT COUNT(DISTINCT $unit) AS people FROM $release AS r GROUP BY $labels) AS sizes
