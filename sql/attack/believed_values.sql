-- name: attack/believed_values
-- Take what the two releases together say of people for their values, where no table tells these.
-- reads: tuples (target, n), both (target, different, value)
-- holes: $tuples relation, $both relation
-- gives: target, value, n
SELECT t.target, b.value, t.n
FROM $tuples AS t
JOIN $both AS b ON b.target = t.target
