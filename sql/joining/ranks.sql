-- name: joining/ranks
-- Count the classes that do not meet the privacy model, and all of them.
-- reads: ranked (class, unsafe, place)
-- holes: $ranked relation
-- gives: unsafe, classes
SELECT COALESCE(SUM(r.unsafe), 0) AS unsafe, COUNT(*) AS classes FROM $ranked AS r
