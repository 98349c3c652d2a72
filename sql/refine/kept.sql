-- name: refine/kept
-- Leave the first classes of an order out of a state.
-- reads: state (id, n, class), room (class, place)
-- holes: $state relation, $room relation, $first value
-- gives: id, n, class
SELECT s.id, s.n, s.class
FROM $state AS s
JOIN $room AS r ON r.class = s.class
WHERE r.place > $first
