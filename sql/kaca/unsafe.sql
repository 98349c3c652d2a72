-- name: kaca/unsafe
-- Count the classes, and those that may not be released yet.
-- reads: classes (class, n, safe)
-- holes: $classes relation
-- gives: classes, unsafe
-- engines: duckdb
SELECT COUNT(*) AS classes, COUNT(*) FILTER (WHERE NOT safe) AS unsafe FROM $classes
