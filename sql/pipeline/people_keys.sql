-- name: pipeline/people_keys
-- List the keys that the people of a release are noted with, as pipeline/people gives them.
-- reads: people (any relation that holds the people's column)
-- holes: $people relation, $unit columns
-- gives: id
SELECT DISTINCT SUBSTRING(CAST($unit AS TEXT), 1, 9) AS id FROM $people AS p
