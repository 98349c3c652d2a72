-- name: attack/followed_groups
-- Let every class follow the class that its group is named after to the group where that is now.
-- reads: groups (node, part)
-- holes: $groups relation
-- gives: node, part
SELECT g.node, o.part FROM $groups AS g JOIN $groups AS o ON o.node = g.part
