-- name: core/apart
-- Leave out of a view's assignment the parts of a tuple that overlap one before them, so that no row is in two classes.
-- reads: assignment (keys, first, last, class)
-- holes: $keys columns, $assignment relation
-- gives: the keys, first, last, class
SELECT $keys, first, last, class
FROM (
  SELECT
    $keys, first, last, class,
    MAX(last) OVER (PARTITION BY $keys ORDER BY first, last ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS taken
  FROM $assignment
) AS ordered
WHERE taken IS NULL OR taken < first
