-- name: attack/own_groups
-- Begin with every class of two releases in a group of its own; those of the second have negative numbers.
-- reads: first (class), second (class)
-- holes: $first relation, $second relation
-- gives: node, part
SELECT a.class AS node, a.class AS part FROM $first AS a
UNION ALL
SELECT -b.class AS node, -b.class AS part FROM $second AS b
