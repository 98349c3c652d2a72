-- name: attack/numbered
-- Give every row of a release the number of its class, as attack/classes numbers them.
-- reads: release (a copy of a release)
-- holes: $release relation, $labels columns, $kept columns
-- gives: row_id, class, the kept columns
SELECT r.row_id, DENSE_RANK() OVER (ORDER BY $labels) AS class, $kept FROM $release AS r
