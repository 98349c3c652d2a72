-- name: attack/first_lines
-- Begin with all classes on one line: nothing of their labels has been looked at.
-- reads: classes (class, the labels, n)
-- holes: $classes relation
-- gives: class, line, hole (the attribute that is left out, 0 for none), several (1 where its label is for several values)
SELECT k.class, '' AS line, 0 AS hole, 0 AS several FROM $classes AS k
