-- name: attack/source_rows
-- Give the rows of the source that are linked with targets, as targets themselves.
-- reads: source (a copy of the source), links (target, row_id)
-- holes: $source relation, $columns columns, $links relation
-- gives: target (the row's number), the columns
SELECT s.row_id AS target, $columns FROM $source AS s
WHERE s.row_id IN (SELECT l.row_id FROM $links AS l)
