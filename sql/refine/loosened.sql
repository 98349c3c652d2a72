-- name: refine/loosened
-- Leave the loose tuples out of a state; of a class that would be unsafe without all of its own, the first alone.
-- reads: state (id, n, class), loose (id, class, place), unsafe (class, without its loose tuples)
-- holes: $state relation, $loose relation, $unsafe relation
-- gives: id, n, class
SELECT s.id, s.n, s.class
FROM $state AS s
WHERE NOT s.id IN (
  SELECT l.id FROM $loose AS l WHERE l.place = 1 OR NOT l.class IN (SELECT u.class FROM $unsafe AS u)
)
