-- name: privacy/node_class_sizes
-- Count the classes of each size that one lattice node would release, for models about all of them together.
-- reads: frequency_set (one row per distinct tuple; n = rows, and population = those of a population where it is asked; one integer column per attribute and level)
-- holes: $node value, $frequency_set relation, $levels columns, $safe predicate, $size figure, $people figure
-- gives: node, size (rows or people in a class), people (of a population, that it stands for), classes (how many are alike in both), rows (in all of these)
SELECT $node AS node, released.size, released.people, COUNT(*) AS classes, SUM(released.class_rows) AS rows
FROM (
  SELECT $size AS size, $people AS people, SUM(f.n) AS class_rows
  FROM $frequency_set AS f GROUP BY $levels HAVING COALESCE($safe, FALSE)
) AS released
GROUP BY released.size, released.people
