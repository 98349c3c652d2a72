-- name: core/apart
-- Leave out of a view's assignment the parts of a tuple that overlap one before them, so that no row is in two classes.
-- reads: assignment (keys, first, last, class)
-- holes: $keys columns, $assignment relation
-- gives: the keys, first, last, class
SELECT $keys, ordered.first, ordered.last, ordered.class
FROM (
  SELECT
    $keys, a.first, a.last, a.class,
    MAX(a.last) OVER (
      PARTITION BY $keys ORDER BY a.first, a.last ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS taken
  FROM $assignment AS a
) AS ordered
WHERE ordered.taken IS NULL OR ordered.taken < ordered.first
