-- name: refine/classes_of
-- List the classes of a state.
-- reads: state (id, n, class)
-- holes: $state relation
-- gives: class
SELECT s.class FROM $state AS s GROUP BY s.class
