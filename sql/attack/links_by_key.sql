-- name: attack/links_by_key
-- Link targets with the rows of the source that agree with all that is known of them.
-- reads: targets (id, key), source (id, key)
-- holes: $targets relation, $source relation
-- gives: target, row_id (of the source)
SELECT t.id AS target, s.id AS row_id FROM $targets AS t JOIN $source AS s ON s.key = t.key
