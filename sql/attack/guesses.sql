-- name: attack/guesses
-- Count for each target the records that fit by their value, and how many of these are the target's own (one, if any).
-- reads: fits (target, class), values (class, value, n), truths (target, value)
-- holes: $fits relation, $values relation, $truths relation
-- gives: target, records, own (1 for the target's value, else 0)
SELECT f.target, SUM(v.n) AS records, MAX(CASE WHEN v.value = t.value THEN 1 ELSE 0 END) AS own
FROM $fits AS f
JOIN $values AS v ON v.class = f.class
JOIN $truths AS t ON t.target = f.target
GROUP BY f.target, v.value
