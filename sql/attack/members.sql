-- name: attack/members
-- Take everybody who has the same known values for one, where no column tells people apart.
-- reads: tuples (target, n)
-- holes: $tuples relation
-- gives: target, person, n (people)
SELECT t.target, t.target AS person, t.n FROM $tuples AS t
