-- name: core/like_values
-- Take the values whose label on one level may be the value itself: written alike, or the same number in another writing.
-- reads: mapping (value, code_0, label_1 … label_h)
-- holes: $mapping relation, $label columns, $float value (whether values are floats, which may be written otherwise elsewhere)
-- gives: value, label, code_0 (NULL of NULL among them)
-- engines: duckdb
SELECT c.value, c.label, c.code_0
FROM (SELECT m.value, $label AS label, m.code_0 FROM $mapping AS m) AS c
WHERE c.label = CAST(c.value AS TEXT)
  OR ($float AND TRY_CAST(c.label AS DOUBLE) = TRY_CAST(CAST(c.value AS TEXT) AS DOUBLE))
  OR (c.label IS NULL AND c.value IS NULL)
