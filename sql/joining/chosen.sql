-- name: joining/chosen
-- Choose for every unsafe class the nearest class with which it is safe, or the nearest one where it is safe with none.
-- reads: pairs (pair, class, target, place), unsafe (class: the pairs that are not safe together)
-- holes: $pairs relation, $unsafe relation
-- gives: class, target, the ones that make a safe class first
-- engines: duckdb
SELECT p.class AS class, ARG_MIN(p.target, ROW(NOT u.class IS NULL, p.place)) AS target
FROM $pairs AS p
LEFT JOIN $unsafe AS u ON u.class = p.pair
GROUP BY p.class
ORDER BY MIN(CASE WHEN u.class IS NULL THEN 0 ELSE 1 END), MIN(p.place), p.class
