-- name: attack/common_values
-- List the values that both classes of a pair have: whoever stands in both has one of them.
-- reads: cells (class, first, second, n), first (class, value, n), second (class, value, n)
-- holes: $cells relation, $first relation, $second relation
-- gives: class, value
SELECT c.class, a.value
FROM $cells AS c
JOIN $first AS a ON a.class = c.first
JOIN $second AS b ON b.class = c.second AND b.value = a.value
