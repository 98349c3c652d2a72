-- name: attack/believed_values
-- Take what the two releases together say of people for their values, where no table tells these.
-- reads: members (target, person, n), both (target, different, value)
-- holes: $members relation, $both relation
-- gives: target, person, value, n
SELECT m.target, m.person, b.value, m.n
FROM $members AS m
JOIN $both AS b ON b.target = m.target
