-- name: profile/set
-- Say how well one set of columns distinguishes the rows.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute)
-- holes: $node value, $frequency_set relation, $levels columns, $small value
-- gives: node (the set's number), combinations, unique_rows, small_rows (rows in classes below $small), squares (of the classes' rows, added up)
SELECT
  $node AS node,
  COUNT(*) AS combinations,
  COUNT(*) FILTER (WHERE classes.n = 1) AS unique_rows,
  COALESCE(SUM(classes.n) FILTER (WHERE classes.n < $small), 0) AS small_rows,
  COALESCE(SUM(classes.n * classes.n), 0) AS squares
FROM (SELECT SUM(f.n) AS n FROM $frequency_set AS f GROUP BY $levels) AS classes
