-- Keeping the regions of an earlier release.

-- name: held
-- Take the tuples that stay in a region: the region is their class.
SELECT $keys, m.n, m.region AS class FROM $marked AS m WHERE NOT m.region IS NULL;

-- name: pool
-- Take the tuples that no region keeps, each as a class of its own.
-- gives: the keys, n, class (from 1)
SELECT $keys, m.n, ROW_NUMBER() OVER (ORDER BY $keys) AS class FROM $marked AS m WHERE m.region IS NULL;

-- name: placed
-- Say of every tuple which class the box is of that it was put into; none of a tuple that no box holds.
-- gives: the keys, n, class (NULL for none)
SELECT $keys, p.n, b.class FROM $placed AS p LEFT JOIN $boxes AS b ON b.place = p.place;

-- name: marked
-- Say of every tuple which region it stays in: none where no region holds it, or where its class there is not safe.
-- gives: the keys, n, region (NULL for none)
SELECT $keys, p.n, CASE WHEN u.class IS NULL THEN p.class END AS region
FROM $placed AS p
LEFT JOIN $unsafe AS u ON u.class = p.class;

-- name: both
-- Put the classes of one assignment beside those of another, under numbers of their own.
-- gives: the keys, n, class (those of the others behind the largest of the first)
SELECT $keys, h.n, h.class FROM $held AS h
UNION ALL
SELECT $keys, o.n, $most + DENSE_RANK() OVER (ORDER BY o.class) AS class FROM $others AS o WHERE NOT o.class IS NULL;

-- name: kept
-- List the classes all of whose tuples were in one region that holds.
-- gives: class, region, size (rows)
SELECT a.class, MIN(a.region) AS region, SUM(a.n) AS size
FROM $assigned AS a
GROUP BY a.class
HAVING MIN(a.region) = MAX(a.region) AND COUNT(a.region) = COUNT(*);

-- name: classes
-- Let the classes that are kept show what they did, and all others what was made for them.
SELECT $columns
FROM $classes AS c
LEFT JOIN (SELECT k.class AS before FROM $kept AS k) AS b ON b.before = c.class
WHERE b.before IS NULL
UNION ALL
SELECT $columns FROM $kept AS k;
