-- name: keeping/classes
-- Let the classes that are kept show what they did, and all others what was made for them.
-- reads: classes (class, and what each shows), kept (the same)
-- holes: $classes relation, $kept relation, $columns columns
-- gives: the columns
SELECT $columns
FROM $classes AS c
LEFT JOIN (SELECT k.class AS before FROM $kept AS k) AS b ON b.before = c.class
WHERE b.before IS NULL
UNION ALL
SELECT $columns FROM $kept AS k
