-- name: attack/class_targets
-- Take the classes of a release for targets: people of whom its labels are known.
-- reads: classes (class, the labels, n)
-- holes: $classes relation, $labels columns
-- gives: target (the class), the labels
SELECT k.class AS target, $labels FROM $classes AS k
