-- name: privacy/node_class_sizes
-- Count the classes of each size that one lattice node would release, for models about all of them together.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $node value, $frequency_set relation, $levels columns, $safe predicate, $size figure
-- gives: node, size (rows or people in a class), classes (how many have that size), rows (in all of these)
SELECT $node AS node, released.size, COUNT(*) AS classes, SUM(released.class_rows) AS rows
FROM (
  SELECT $size AS size, SUM(f.n) AS class_rows
  FROM $frequency_set AS f GROUP BY $levels HAVING COALESCE($safe, FALSE)
) AS released
GROUP BY released.size
