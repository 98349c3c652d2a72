-- name: kaca/members
-- Say which class of an assignment every tuple is in; there it is named by its values' codes, which may be NULL.
-- reads: tuples (tuple, the values' codes), assignment (the codes, class; one row per tuple)
-- holes: $tuples relation, $assignment relation, $values columns
-- gives: class (the tuple, a class of its own), goes_to (the class that it is in)
-- engines: duckdb
SELECT t.tuple AS class, a.class AS goes_to
FROM (SELECT tuple, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $tuples) AS t
JOIN (SELECT class, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $assignment) AS a ON a.place = t.place
