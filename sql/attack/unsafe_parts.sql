-- name: attack/unsafe_parts
-- List the parts of classes that do not meet the privacy model, in every world.
-- reads: counted (world, home, part, the sensitive columns, n)
-- holes: $counted relation, $safe predicate
-- gives: world, home, part
SELECT f.world, f.home, f.part FROM $counted AS f GROUP BY f.world, f.home, f.part HAVING NOT COALESCE($safe, FALSE)
