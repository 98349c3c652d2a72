-- name: joining/unsafe
-- List the classes that do not meet the privacy model.
-- reads: members (class, n = rows, and the sensitive columns that the model counts)
-- holes: $members relation, $safe predicate
-- gives: class
SELECT m.class AS class
FROM $members AS m
GROUP BY m.class
HAVING NOT COALESCE($safe, FALSE)
