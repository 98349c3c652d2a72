-- name: privacy/whole_table
-- Say whether all rows together, as one class, meet a privacy model, and what they reach.
-- reads: frequency_set (one row per distinct tuple and sensitive values; n = rows)
-- holes: $frequency_set relation, $safe predicate, $achieved figure, $of_class figure
-- gives: unsafe (1 or 0), achieved (the model's own figure)
SELECT COUNT(*) FILTER (WHERE NOT whole.safe) AS unsafe, $achieved AS achieved
FROM (SELECT COALESCE($safe, FALSE) AS safe, $of_class AS of_class FROM $frequency_set AS f) AS whole
