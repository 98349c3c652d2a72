-- name: attack/narrowed
-- Find who stands among k people in either of two releases, and among fewer in every pair of their classes.
-- reads: first (target, among), second (target, among), both (target, among)
-- holes: $first relation, $second relation, $both relation, $k value
-- gives: target
SELECT b.target
FROM $both AS b
JOIN $first AS a ON a.target = b.target
JOIN $second AS o ON o.target = b.target
WHERE a.among >= $k AND o.among >= $k AND b.among < $k
