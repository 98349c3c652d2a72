-- name: attack/likeliest
-- Give each target the largest class that fits, and the target's place among those of this class and value.
-- reads: fits (target, class), classes (class, the labels, n), truths (target, value)
-- holes: $fits relation, $classes relation, $truths relation
-- gives: target, class, value (a key), place
SELECT f.target, f.class, t.value, ROW_NUMBER() OVER (PARTITION BY f.class, t.value ORDER BY f.target) AS place
FROM (
  SELECT x.target, x.class, ROW_NUMBER() OVER (PARTITION BY x.target ORDER BY k.n DESC, x.class) AS rank
  FROM $fits AS x JOIN $classes AS k ON k.class = x.class
) AS f
JOIN $truths AS t ON t.target = f.target
WHERE f.rank = 1
