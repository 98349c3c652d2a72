-- name: attack/one_of_each
-- Count one record of each target: of several rows that agree with what is known, one at most is the target's.
-- reads: linked (target, records)
-- holes: $linked relation
-- gives: target, records
SELECT l.target, 1 AS records FROM $linked AS l
