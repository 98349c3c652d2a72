-- name: privacy/evidence
-- Say what each tuple of a source is shown as, and of a tuple that is parted, its rows from a place to another.
-- reads: tuples (class, the values, the places), classes (class, what it shows)
-- holes: $tuples relation, $classes relation, $values columns, $places columns, $shown columns, $names columns
-- gives: the values, the places, what is shown
SELECT $values, $places, $names
FROM (SELECT $values, $places, t.class AS tuple_class FROM $tuples AS t) AS valued
JOIN (SELECT k.class AS shown_class, $shown FROM $classes AS k) AS labelled ON labelled.shown_class = valued.tuple_class
