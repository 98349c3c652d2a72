-- name: attack/boxes
-- Number the boxes and intervals of a cloaked release, with their rows.
-- reads: release (a copy of a cloaked release)
-- holes: $release relation, $x_min columns, $x_max columns, $y_min columns, $y_max columns, $since columns, $until columns
-- gives: class, x_min, x_max, y_min, y_max, since, until, n (rows)
SELECT
  ROW_NUMBER() OVER (ORDER BY $x_min, $x_max, $y_min, $y_max, $since, $until) AS class,
  $x_min AS x_min, $x_max AS x_max, $y_min AS y_min, $y_max AS y_max, $since AS since, $until AS until,
  COUNT(*) AS n
FROM $release AS r
GROUP BY $x_min, $x_max, $y_min, $y_max, $since, $until
