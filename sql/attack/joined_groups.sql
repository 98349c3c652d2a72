-- name: attack/joined_groups
-- Let every class join the group with the lowest number among its own and those of the classes linked to it.
-- reads: groups (node, part), links (node, other)
-- holes: $groups relation, $links relation
-- gives: node, part
SELECT g.node, LEAST(g.part, COALESCE(MIN(o.part), g.part)) AS part
FROM $groups AS g
LEFT JOIN $links AS l ON l.node = g.node
LEFT JOIN $groups AS o ON o.node = l.other
GROUP BY g.node, g.part
