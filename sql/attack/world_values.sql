-- name: attack/world_values
-- Count the people of each part of a class by their sensitive values, in every world.
-- reads: parts (row_id, home, part), seats (world, row_id, slot), slots (home, slot, the columns)
-- holes: $parts relation, $seats relation, $slots relation, $columns columns
-- gives: world, home, part, the columns, n
SELECT s.world, p.home, p.part, $columns, COUNT(*) AS n
FROM $seats AS s
JOIN $parts AS p ON p.row_id = s.row_id
JOIN $slots AS k ON k.home = p.home AND k.slot = s.slot
GROUP BY s.world, p.home, p.part, $columns
