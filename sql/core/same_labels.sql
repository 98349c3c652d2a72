-- name: core/same_labels
-- Take the values whose label on a level is theirs on a lower one, too, for the same values.
-- reads: mapping (code_0, label_1 … label_h)
-- holes: $mapping relation, $lower columns, $label columns
-- gives: code_0
-- engines: duckdb
SELECT c.code_0
FROM (
  SELECT
    m.code_0, $lower AS lower_label, $label AS label,
    COUNT(*) OVER (PARTITION BY $lower) AS lower_values,
    COUNT(*) OVER (PARTITION BY $label) AS label_values
  FROM $mapping AS m
) AS c
WHERE c.lower_label = c.label AND c.lower_values = c.label_values
