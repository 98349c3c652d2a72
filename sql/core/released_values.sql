-- name: core/released_values
-- List the values of an attribute that occur in the source, by their codes, and whether a row with each is in a class.
-- reads: frequency_set (one row per distinct tuple; n = rows), assignment (a tuple's level-0 codes, class; suppressed where that is NULL)
-- holes: $frequency_set relation, $assignment relation, $key columns
-- gives: code, released (1 or 0)
SELECT o.code, CASE WHEN r.code IS NULL THEN 0 ELSE 1 END AS released
FROM (SELECT DISTINCT $key AS code FROM $frequency_set AS f WHERE f.n > 0) AS o
LEFT JOIN (SELECT DISTINCT $key AS code FROM $assignment AS a WHERE a.n > 0 AND NOT a.class IS NULL) AS r ON r.code = o.code
