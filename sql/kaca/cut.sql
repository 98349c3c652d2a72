-- name: kaca/cut
-- Put rows that were cut into classes elsewhere in the place of the classes that may not be released.
-- reads: parts (tuple, class, n), counted (class, n, what the model counts by; or the same relation), rest (tuple, the values' codes, n), assignment (the codes, class; the same tuples)
-- holes: $parts relation, $counted relation, $rest relation, $assignment relation, $values columns, $above value, $safe predicate
-- gives: tuple, class (of the new ones above a number), n
-- engines: duckdb
SELECT tuple, class, n
FROM $parts
WHERE class IN (SELECT class FROM $counted GROUP BY class HAVING COALESCE($safe, FALSE))
UNION ALL
SELECT r.tuple, a.class + $above AS class, r.n
FROM (SELECT tuple, n, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $rest) AS r
JOIN (SELECT class, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $assignment) AS a ON a.place = r.place
