-- name: page/label_sizes
-- Count the rows of every label of one column by the size of the class that they are in.
-- reads: classes (one row per class; n = rows, size = rows or people)
-- holes: $classes relation, $label columns
-- gives: the label's code, size (of a class), n (rows in classes of this size)
SELECT $label, c.size, SUM(c.n) AS n FROM $classes AS c GROUP BY $label, c.size
