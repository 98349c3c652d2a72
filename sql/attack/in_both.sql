-- name: attack/in_both
-- Pair the classes that each target may stand in of two releases, for everybody whom it stands for; 0 is none of them.
-- reads: members (target, person, n), first (target, class), second (target, class)
-- holes: $members relation, $first relation, $second relation
-- gives: target, person, first, second, n
SELECT m.target, m.person, COALESCE(a.class, 0) AS first, COALESCE(b.class, 0) AS second, m.n
FROM $members AS m
LEFT JOIN $first AS a ON a.target = m.target
LEFT JOIN $second AS b ON b.target = m.target
WHERE a.class IS NOT NULL OR b.class IS NOT NULL
