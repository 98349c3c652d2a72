-- name: core/view_values
-- Read a view's mapping table so that a value has one code and a code shows one thing, whatever was written to it.
-- reads: mapping (value, code, label; no label on level 0)
-- holes: $mapping relation, $shown columns
-- gives: value, code, shown
SELECT c.value, c.code, FIRST_VALUE(c.shown) OVER (PARTITION BY c.code ORDER BY c.shown) AS shown
FROM (SELECT m.value, m.code, $shown AS shown, COUNT(*) OVER (PARTITION BY m.value) AS copies FROM $mapping AS m) AS c
WHERE c.copies = 1 AND c.code >= 0
