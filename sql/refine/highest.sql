-- name: refine/highest
-- Find the highest number of a class.
-- reads: state (class)
-- holes: $state relation
-- gives: class
SELECT COALESCE(MAX(s.class), 0) AS class FROM $state AS s
