-- name: joining/joined
-- Give the tuples of classes that join others the number of the class that they join.
-- reads: assignment (class, and other columns), joined (class, into)
-- holes: $assignment relation, $joined relation, $columns columns
-- gives: the columns, class
SELECT $columns, COALESCE(j.into, a.class) AS class
FROM $assignment AS a
LEFT JOIN $joined AS j ON j.class = a.class
