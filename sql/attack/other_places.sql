-- name: attack/other_places
-- Count the places that do not have as many rows of the one table as of the other.
-- reads: placed (row_id, home), others (row_id, home)
-- holes: $placed relation, $others relation
-- gives: places
SELECT COUNT(*) AS places
FROM (SELECT p.home, COUNT(*) AS n FROM $placed AS p GROUP BY p.home) AS own
FULL JOIN (SELECT o.home, COUNT(*) AS n FROM $others AS o GROUP BY o.home) AS other ON other.home = own.home
WHERE COALESCE(own.n, 0) <> COALESCE(other.n, 0)
