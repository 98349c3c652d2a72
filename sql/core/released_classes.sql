-- name: core/released_classes
-- List the classes of the chosen node that meet the privacy model, by their codes.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $frequency_set relation, $levels columns, $safe predicate
-- gives: the level columns
SELECT $levels FROM $frequency_set AS f GROUP BY $levels HAVING COALESCE($safe, FALSE)
