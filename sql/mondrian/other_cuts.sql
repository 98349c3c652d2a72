-- name: mondrian/other_cuts
-- Leave out of all cuts that were found those that cannot be made.
-- reads: cuts (class, attribute, and anything else), unsafe (class, attribute)
-- holes: $cuts relation, $unsafe relation
-- gives: the same columns
-- engines: duckdb
SELECT *
FROM $cuts AS c
WHERE NOT EXISTS (SELECT 1 AS same FROM $unsafe AS u WHERE u.class = c.class AND u.attribute = c.attribute)
