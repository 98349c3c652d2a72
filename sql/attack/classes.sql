-- name: attack/classes
-- Number the classes of a release, with their labels and rows.
-- reads: release (a copy of a release)
-- holes: $release relation, $labels columns
-- gives: class, the labels, n (rows)
SELECT ROW_NUMBER() OVER (ORDER BY $labels) AS class, $labels, COUNT(*) AS n
FROM $release AS r
GROUP BY $labels
