-- name: population/labels
-- List what a released column shows, as texts.
-- reads: release (any relation that holds the column)
-- holes: $release relation, $column columns
-- gives: label
SELECT CAST($column AS TEXT) AS label FROM $release AS r GROUP BY $column
