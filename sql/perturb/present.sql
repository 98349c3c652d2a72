-- name: perturb/present
-- Count the values of a column that are not NULL, so that a range of ranks can be judged before any long work.
-- reads: source (the raw table, any shape)
-- holes: $column columns, $source relation
-- gives: present (values)
SELECT COUNT(cells.value) AS present FROM (SELECT $column AS value FROM $source AS s) AS cells
