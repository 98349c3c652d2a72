-- name: attack/links
-- Link the classes of two releases that may share somebody, both ways; those of the second have negative numbers.
-- reads: overlaps (target = a class of the first, class = one of the second)
-- holes: $overlaps relation
-- gives: node, other
SELECT o.target AS node, -o.class AS other FROM $overlaps AS o
UNION ALL
SELECT -o.class AS node, o.target AS other FROM $overlaps AS o
