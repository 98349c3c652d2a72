-- name: kaca/distortion
-- Add up the distortion of all rows of an assignment.
-- reads: generalized (class, codes), assignment (class, n)
-- holes: $generalized relation, $assignment relation, $own steps
-- gives: distortion
-- engines: duckdb
SELECT SUM(a.n * g.distortion) AS distortion
FROM (SELECT class, CAST($own AS DOUBLE) AS distortion FROM $generalized AS g) AS g
JOIN $assignment AS a ON a.class = g.class
