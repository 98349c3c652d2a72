-- name: core/view_values
-- Read a view's mapping table so that a value has one code and a code shows one thing, whatever was written to it.
-- reads: mapping (value, code, label; no label on level 0)
-- holes: $mapping relation, $shown columns
-- gives: value, code, shown
SELECT value, code, FIRST_VALUE(shown) OVER (PARTITION BY code ORDER BY shown) AS shown
FROM (SELECT value, code, $shown AS shown, COUNT(*) OVER (PARTITION BY value) AS copies FROM $mapping) AS counted
WHERE copies = 1 AND code >= 0
