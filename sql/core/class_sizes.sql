-- name: core/class_sizes
-- Count the equivalence classes of each size, straight from a released relation: the independent check.
-- reads: release (any relation that holds the quasi-identifiers)
-- holes: $release relation, $quasi_identifiers columns
-- gives: size (rows in a class), classes (how many have that size), smallest first
SELECT classes.size, COUNT(*) AS classes
FROM (SELECT COUNT(*) AS size FROM $release AS r GROUP BY $quasi_identifiers) AS classes
GROUP BY classes.size
ORDER BY size
