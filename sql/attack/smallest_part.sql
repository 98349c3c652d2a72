-- name: attack/smallest_part
-- Count the rows of the smallest part of any class.
-- reads: parts (row_id, home, part)
-- holes: $parts relation
-- gives: size
SELECT MIN(k.size) AS size FROM (SELECT COUNT(*) AS size FROM $parts AS p GROUP BY p.home, p.part) AS k
