-- name: attack/first_places
-- Begin with all classes at one place: nothing of their labels has been looked at.
-- reads: classes (class, the labels, n)
-- holes: $classes relation
-- gives: class, place
SELECT k.class, 1 AS place FROM $classes AS k
