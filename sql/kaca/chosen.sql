-- name: kaca/chosen
-- Choose for every class the nearest with which it is safe, or the nearest one where it is safe with none.
-- reads: pairs (pair, class, target, distance, place), unsafe (class: the pairs that are not safe together)
-- holes: $pairs relation, $unsafe relation
-- gives: class, target, distance
-- engines: duckdb
SELECT
  p.class,
  ARG_MIN(p.target, ROW(NOT u.class IS NULL, p.place)) AS target,
  ARG_MIN(p.distance, ROW(NOT u.class IS NULL, p.place)) AS distance
FROM $pairs AS p
LEFT JOIN $unsafe AS u ON u.class = p.pair
GROUP BY p.class
