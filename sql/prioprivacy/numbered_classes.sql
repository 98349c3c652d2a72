-- name: prioprivacy/numbered_classes
-- Number the classes: the tuples that show the same labels are one.
-- reads: labelled (tuple, n, the cells; the labels are some of them)
-- holes: $labels columns, $cells columns, $labelled relation
-- gives: class (0, 1, …), tuple, n, the cells
SELECT CAST(DENSE_RANK() OVER (ORDER BY $labels) - 1 AS INTEGER) AS class, l.tuple, l.n, $cells FROM $labelled AS l
