-- name: attack/in_both
-- Pair the classes that each target may stand in of two releases; 0 is none of them.
-- reads: tuples (target, n), first (target, class), second (target, class)
-- holes: $tuples relation, $first relation, $second relation
-- gives: target, first, second, n
SELECT t.target, COALESCE(a.class, 0) AS first, COALESCE(b.class, 0) AS second, t.n
FROM $tuples AS t
LEFT JOIN $first AS a ON a.target = t.target
LEFT JOIN $second AS b ON b.target = t.target
WHERE a.class IS NOT NULL OR b.class IS NOT NULL
