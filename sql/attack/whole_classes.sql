-- name: attack/whole_classes
-- List the classes that have all of the people who fit them.
-- reads: classes (class, the labels, n), fits (target, class)
-- holes: $classes relation, $fits relation
-- gives: class
SELECT k.class FROM $classes AS k JOIN $fits AS f ON f.class = k.class GROUP BY k.class, k.n HAVING COUNT(*) = k.n
