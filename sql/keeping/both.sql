-- name: keeping/both
-- Put the classes of one assignment beside those of another, under numbers of their own.
-- reads: held (the tuples' codes, n, class), others (the same)
-- holes: $held relation, $others relation, $keys columns, $most value
-- gives: the keys, n, class (those of the others behind the largest of the first)
SELECT $keys, h.n, h.class FROM $held AS h
UNION ALL
SELECT $keys, o.n, $most + DENSE_RANK() OVER (ORDER BY o.class) AS class FROM $others AS o WHERE NOT o.class IS NULL
