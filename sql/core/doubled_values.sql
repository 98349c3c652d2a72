-- name: core/doubled_values
-- Count the values that a mapping table holds more than once.
-- reads: mapping (value and more)
-- holes: $mapping relation
-- gives: twice
SELECT COUNT(*) AS twice
FROM (SELECT value FROM $mapping WHERE value IS NOT NULL GROUP BY value HAVING COUNT(*) > 1) AS doubled
