-- Reusing the regions of an earlier release.

-- name: held
-- Return the tuples that stay in a region, with the region as their class.
SELECT $keys, m.n, m.region AS class FROM $marked AS m WHERE NOT m.region IS NULL;

-- name: in_regions
-- Return the tuples that are in a region, with the region as their class.
SELECT $keys, p.n, p.class FROM $placed AS p WHERE NOT p.class IS NULL;

-- name: pool
-- Return the tuples that no region keeps, each as a separate class.
-- columns: the keys, n, class (from 1)
SELECT $keys, m.n, ROW_NUMBER() OVER (ORDER BY $keys) AS class FROM $marked AS m WHERE m.region IS NULL;

-- name: placed
-- Find the class of the box that contains every tuple; NULL if no box does.
-- columns: the keys, n, class (NULL for none)
SELECT $keys, p.n, b.class FROM $placed AS p LEFT JOIN $boxes AS b ON b.place = p.place;

-- name: marked
-- Find the region that every tuple stays in: none if no region contains it or if its class there is unsafe.
-- columns: the keys, n, region (NULL for none)
SELECT $keys, p.n, CASE WHEN u.class IS NULL THEN p.class END AS region
FROM $placed AS p
LEFT JOIN $unsafe AS u ON u.class = p.class;

-- name: both
-- Combine the classes of two assignments under distinct numbers.
-- columns: the keys, n, class (those of the second are numbered after the largest of the first)
SELECT $keys, h.n, h.class FROM $held AS h
UNION ALL
SELECT $keys, o.n, $most + DENSE_RANK() OVER (ORDER BY o.class) AS class FROM $others AS o WHERE NOT o.class IS NULL;

-- name: kept
-- List the classes whose tuples all stay in the same region.
-- columns: class, region, size (rows)
SELECT a.class, MIN(a.region) AS region, SUM(a.n) AS size
FROM $assigned AS a
GROUP BY a.class
HAVING MIN(a.region) = MAX(a.region) AND COUNT(a.region) = COUNT(*);

-- name: classes
-- Combine the reused classes, with their earlier labels, and all other classes, with their new labels.
SELECT $columns
FROM $classes AS c
LEFT JOIN (SELECT k.class AS before FROM $kept AS k) AS b ON b.before = c.class
WHERE b.before IS NULL
UNION ALL
SELECT $columns FROM $kept AS k;
