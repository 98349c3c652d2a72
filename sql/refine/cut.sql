-- name: refine/cut
-- Add tuples that were cut into classes elsewhere to a state; there they are named by their values' codes.
-- reads: state (id, n, class), open (id, n, codes), assignment (codes, class; the same tuples)
-- holes: $state relation, $open relation, $assignment relation, $keys columns, $above value
-- gives: id, n, class (of the new ones above a number)
SELECT s.id, s.n, s.class FROM $state AS s
UNION ALL
SELECT o.id, o.n, a.class + $above AS class
FROM (SELECT o.id, o.n, ROW_NUMBER() OVER (ORDER BY $keys) AS place FROM $open AS o) AS o
JOIN (SELECT a.class, ROW_NUMBER() OVER (ORDER BY $keys) AS place FROM $assignment AS a) AS a ON a.place = o.place
