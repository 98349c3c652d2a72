-- name: kaca/seekers
-- Pick the classes that look for a partner now: those that may not be released yet, as many as asked for after so many others, by their seats.
-- reads: classes (class, n, safe, distortion, block, seat, codes)
-- holes: $classes relation, $codes columns, $after value, $most value
-- gives: class, n, distortion, block, the codes, -2 where the class is generalized above: unlike any other class's
-- engines: duckdb
SELECT class, n, distortion, block, CASE WHEN $codes < 0 THEN -2 ELSE $codes END
FROM (SELECT * FROM $classes WHERE NOT safe AND seat > $after AND seat <= $after + $most) AS picked
