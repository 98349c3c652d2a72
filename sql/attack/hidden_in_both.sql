-- name: attack/hidden_in_both
-- Count the people who stand among k in either of two releases.
-- reads: first (target, n, among), second (target, n, among)
-- holes: $first relation, $second relation, $k value
-- gives: people
SELECT COALESCE(SUM(a.n), 0) AS people
FROM $first AS a
JOIN $second AS b ON b.target = a.target
WHERE a.among >= $k AND b.among >= $k
