-- name: population/people_once
-- Count every one of a population's people at one of her tuples, so that she counts once however tuples are added up.
-- reads: tuples (any columns, among them the people's)
-- holes: $tuples relation, $columns columns, $unit columns, $keys columns
-- gives: the columns, n (1, or 0 where she is counted elsewhere)
SELECT
  $columns,
  CASE WHEN ROW_NUMBER() OVER (PARTITION BY $unit ORDER BY $keys) = 1 THEN 1 ELSE 0 END AS n
FROM $tuples AS t
