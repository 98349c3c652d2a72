-- name: quality/levels
-- Look the labels of cells up in a hierarchy: the lowest level that has the label, and the leaves under it.
-- reads: cells (value, label, n), labels (label, level, leaves)
-- holes: $cells relation, $labels relation
-- gives: value, level (NULL where no level has the label), leaves, n (rows)
SELECT c.value, l.level, l.leaves, CAST(SUM(c.n) AS BIGINT) AS n
FROM $cells AS c
LEFT JOIN $labels AS l  -- an equality, also of NULL: engines compare each with each by anything else
  ON COALESCE(l.label, '') = COALESCE(c.label, '') AND (l.label IS NULL) = (c.label IS NULL)
GROUP BY c.value, l.level, l.leaves
