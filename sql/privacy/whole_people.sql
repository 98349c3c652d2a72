-- name: privacy/whole_people
-- Count the people of the whole table.
-- reads: counted (any relation that has the people's column)
-- holes: $counted relation, $people figure
-- gives: overall_size (people)
SELECT CAST($people AS BIGINT) AS overall_size FROM $counted AS f
