-- name: attack/value_shares
-- Give the share of the rows of a release that each value has, by a key that NULL has too.
-- reads: release (a copy of a release)
-- holes: $release relation, $value columns
-- gives: value (a key), share
SELECT valued.value, COUNT(*) / CAST(SUM(COUNT(*)) OVER () AS DOUBLE) AS share
FROM (SELECT COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $release AS r) AS valued
GROUP BY valued.value
