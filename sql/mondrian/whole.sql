-- name: mondrian/whole
-- Say whether all rows together meet the privacy model, without which no class can.
-- reads: frequency_set (one row per distinct tuple; n = rows)
-- holes: $frequency_set relation, $safe predicate
-- gives: safe
-- engines: duckdb
SELECT COALESCE($safe, FALSE) AS safe FROM $frequency_set
