-- name: attack/unsafe_worlds
-- Count the worlds in which a class has an unsafe part, for the classes that have one in any.
-- reads: unsafe (world, home, part)
-- holes: $unsafe relation
-- gives: home, worlds
SELECT u.home, COUNT(DISTINCT u.world) AS worlds FROM $unsafe AS u GROUP BY u.home
