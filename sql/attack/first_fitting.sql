-- name: attack/first_fitting
-- Begin with every target at the one place where all classes are.
-- reads: targets (target, and what is known of each)
-- holes: $targets relation
-- gives: target, place
SELECT t.target, 1 AS place FROM $targets AS t
