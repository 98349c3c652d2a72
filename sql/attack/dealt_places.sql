-- name: attack/dealt_places
-- Number the rows of a release by class, with class and value as numbers, and give each a turn in an order of chance.
-- reads: release (a copy of a release)
-- holes: $release relation, $labels columns, $value columns, $seed value
-- gives: class, value, place (from 1, class by class), turn (from 0)
SELECT
  DENSE_RANK() OVER (ORDER BY $labels) AS class,
  DENSE_RANK() OVER (ORDER BY $value) AS value,
  ROW_NUMBER() OVER (ORDER BY $labels, r.row_id) AS place,
  ROW_NUMBER() OVER (ORDER BY MD5(CAST(r.row_id AS TEXT) || $seed), r.row_id) - 1 AS turn
FROM $release AS r
