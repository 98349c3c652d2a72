-- name: core/doubled_values
-- Count the values that a mapping table holds more than once.
-- reads: mapping (value and more)
-- holes: $mapping relation
-- gives: twice
SELECT COUNT(*) AS twice
FROM (SELECT m.value FROM $mapping AS m WHERE m.value IS NOT NULL GROUP BY m.value HAVING COUNT(*) > 1) AS doubled
