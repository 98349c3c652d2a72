-- name: attack/groups_sum
-- Add up the numbers of all groups: as long as groups join, it falls.
-- reads: groups (node, part)
-- holes: $groups relation
-- gives: total
SELECT COALESCE(SUM(g.part), 0) AS total FROM $groups AS g
