-- name: refine/classes_of
-- List the classes of a state.
-- reads: state (id, n, class)
-- holes: $state relation
-- gives: class
SELECT class FROM $state GROUP BY class
